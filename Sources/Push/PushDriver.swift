// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import NotificationHub

/// What a hub must know of one push service: how it is asked, and what its answers mean.
///
/// It carries nothing itself, so it is the same over any transport, and everything in it can be tried without a network.
package protocol PushDriver: Sendable {
    /// The platform whose devices the service reaches.
    var platform: Platform { get }

    /// The whole request for one device, ready for the wire: encrypted and signed where the service wants that.
    /// - Throws: `PushRefusal`, when nothing may or can be sent to that device.
    func request(for notification: HubNotification, to device: DeviceHandle) throws(PushRefusal) -> Request

    /// What the service's answer says of the device and of the message.
    func verdict(on response: Response) -> PushVerdict
}

/// That a device was not even tried.
package struct PushRefusal: Error, Equatable {
    package var outcome: PushOutcome

    package init(_ outcome: PushOutcome) {
        self.outcome = outcome
    }
}

/// What one answer of a push service comes to.
package struct PushVerdict: Equatable, Sendable {
    /// What a hub does upon it.
    package enum Action: Equatable, Sendable {
        /// Nothing more: the service took the message, or never will.
        case settle
        /// The service did not take the message, and may later: after that many seconds, where it says so.
        case retry(afterSeconds: Int?)
        /// The device is gone for ever; its registration may be removed, unless it was renewed meanwhile.
        case removeRegistration
    }

    package var outcome: PushOutcome
    package var action: Action

    package init(_ outcome: PushOutcome, _ action: Action = .settle) {
        self.outcome = outcome
        self.action = action
    }
}
