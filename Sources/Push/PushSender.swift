// SPDX-License-Identifier: Apache-2.0
package import HTTP

/// Carries the requests of one credential to one push service, and adds the credential where the driver's request lacks it.
///
/// It ends each request with an answer or an error within a deadline of its own.
package protocol PushSender: RequestSender {
    /// The service refused the credential of a request that was sent at that time. Requests that are sent from now on carry a
    /// newer one, which is fetched once however many refusals there are. Does nothing when the credential is newer already.
    func renewCredential(refused sentAt: ContinuousClock.Instant)

    /// An answer says that the connection is of no use any more. Requests that are sent from now on do not use what the
    /// sender used at that time, when the request was sent; those under way finish. Does nothing when that was replaced since.
    func reconnect(after time: ContinuousClock.Instant)
}

extension PushSender {
    /// Of a credential that does not expire.
    package func renewCredential(refused sentAt: ContinuousClock.Instant) {}

    /// Where the transport replaces its connections by itself.
    package func reconnect(after time: ContinuousClock.Instant) {}
}

/// A transport as the sender of a service whose requests bring their credential along.
package struct TransportSender: PushSender {
    private let transport: any RequestSender

    package init(_ transport: any RequestSender) {
        self.transport = transport
    }

    package func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        transport.send(request, completion)
    }

    package var unsent: Int { transport.unsent }
}

/// Why a request was not sent for want of a credential.
package enum CredentialError: TransportFailure, Equatable {
    /// No token is there now: as many requests as may wait for one already, or each new one was refused a moment ago.
    case unavailable
    /// The service that issues credentials does not answer, is out of order, or is not trusted. The reason is for the operator:
    /// never a secret.
    case unanswered(reason: String, fault: ConnectionFault? = nil)
    /// It refuses ours. The reason is for the operator: never a secret.
    case refused(reason: String)

    /// That a service which is asked on the way to a token has given no answer.
    /// - Parameter service: `the token service`.
    package init(_ failure: (any TransportFailure)?, of service: String) {
        let kind = failure?.kind ?? "failed"
        if let fault = failure?.fault {
            self = .unanswered(reason: fault.sentence(of: service), fault: fault)
        } else if failure?.isPermanent == true {
            self = .refused(reason: "\(service) cannot be called (\(kind))")
        } else {
            self = .unanswered(reason: "\(service) does not answer (\(kind))")
        }
    }

    package var isTransient: Bool { if case .refused = self { false } else { true } }
    package var isUnsent: Bool { true }
    package var isPermanent: Bool { false }
    package var fault: ConnectionFault? { if case .unanswered(_, let fault) = self { fault } else { nil } }
    package var kind: String {
        switch self {
        case .unavailable: "credential_unavailable"
        case .unanswered: "credential_unanswered"
        case .refused: "credential_refused"
        }
    }
}
