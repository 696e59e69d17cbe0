// SPDX-License-Identifier: Apache-2.0
package import HTTP

/// What one answer of a push service comes to, or that there is none.
package struct PushResult: Equatable, Sendable {
    /// What follows for the message, the device and the credential.
    package enum Action: Equatable, Sendable {
        /// Nothing more: the service took the message, or never will.
        case settle
        /// The service did not take the message and may later: after that many seconds, where it says so. Until then it is
        /// asked for no other device either.
        case retry(afterSeconds: Int?)
        /// The service takes no more messages for this device for that many seconds. Other devices are not concerned.
        case retryDevice(afterSeconds: Int?)
        /// The service failed with this push, and may take it after that many seconds. Others are not concerned.
        case retryPush(afterSeconds: Int?)
        /// The device is gone for good. Its registration is removed, unless it was renewed after that time, in seconds since
        /// 1970; nil: unless it was renewed after it was read.
        case removeRegistration(goneSince: Int64?)
        /// The device is of another app, or the credential is not that of the app. Its registration is removed only when the
        /// service goes on saying so while it takes the credential for other devices; else the log has the reason.
        case doubtRegistration(reason: String)
        /// The credential has expired before its time: the same push is sent once more, with a new one.
        case renewCredential
        /// The service refuses the credential. No push goes out with it until the operator has corrected it or some minutes have
        /// passed; the messages wait. The reason is for the operator.
        case holdCredential(reason: String)
        /// The device may belong to the service's other environment (Apple's production and sandbox): it is tried there once.
        case tryOtherEnvironment
    }

    package var outcome: PushOutcome
    package var action: Action
    /// Whether the connection is of no use any more, so that later pushes need another one.
    package var closesConnection: Bool
    /// The service's own word for a refusal (`BadDeviceToken`), for the log; never a handle or a text.
    package var reason: String?
    /// Why the service, or the one that issues its access tokens, is not trusted, where that keeps pushes from being sent.
    package var fault: ConnectionFault?
    /// Whether nothing was sent because the name of the service's host has no address.
    package var isUnresolved = false

    package init(
        _ outcome: PushOutcome, _ action: Action = .settle, closesConnection: Bool = false, reason: String? = nil
    ) {
        (self.outcome, self.action) = (outcome, action)
        (self.closesConnection, self.reason) = (closesConnection, reason)
    }
}

extension PushResult {
    /// What it comes to that nothing was sent.
    package init(_ refusal: PushRefusal) {
        self.init(
            refusal.outcome, refusal.isForGood ? .removeRegistration(goneSince: nil) : .settle, reason: refusal.reason)
    }

    /// What an answer of the driver's service comes to, or that there is none.
    init(_ answer: Result<Response, any Error>, to request: Request, by driver: any PushDriver) {
        switch answer {
        case .success(let response):
            self = driver.result(of: response, to: request)
        case .failure(CredentialError.refused(let reason)):
            self.init(.invalidCredentials, .holdCredential(reason: reason))
        case .failure(CredentialError.unanswered(let reason, let fault)):
            self.init(.pnsUnreachable, .retry(afterSeconds: nil), reason: reason)
            self.fault = fault
        case .failure(let error):
            let outcome = PushOutcome(noAnswer: error)
            let failure = error as? any TransportFailure
            // What may have been taken is not sent again.
            let isUnsent = failure?.isUnsent ?? false
            self.init(
                outcome, outcome == .pnsUnreachable && isUnsent ? .retry(afterSeconds: nil) : .settle,
                reason: failure?.fault?.sentence(of: "the push service"))
            (fault, isUnresolved) = (failure?.fault, failure?.isUnresolved ?? false)
        }
    }
}
