// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import NotificationHub

/// What a hub must know of one push service: how it is asked, and what its answers mean.
///
/// It carries nothing and holds no connection, so everything in it can be tested without a network. Credentials that must be
/// fetched or renewed are added by the channel's `PushSender`.
package protocol PushDriver: Sendable {
    /// The platform whose devices the service reaches.
    var platform: Platform { get }

    /// The whole request for one device, in the form that the service wants.
    /// - Throws: `PushRefusal`, when nothing may or can be sent to that device.
    func request(for notification: HubNotification, to device: DeviceHandle) throws(PushRefusal) -> Request

    /// What the service's answer says of the device, of the message and of the credential.
    func result(of response: Response) -> PushResult

    /// The same for a driver whose log must not repeat parts of the request.
    func result(of response: Response, to request: Request) -> PushResult
}

extension PushDriver {
    package func result(of response: Response, to request: Request) -> PushResult { result(of: response) }
}

/// That a device was not even tried.
package struct PushRefusal: Error, Equatable {
    package var outcome: PushOutcome
    /// Which member or header is wrong, for the sender and the operator; never a handle or a text of the message.
    package var reason: String?
    /// Whether no push can ever reach the device, whatever is configured: its registration is removed.
    package var isForGood: Bool

    package init(_ outcome: PushOutcome, reason: String? = nil, isForGood: Bool = false) {
        (self.outcome, self.reason, self.isForGood) = (outcome, reason, isForGood)
    }
}
