// SPDX-License-Identifier: Apache-2.0
import HTTP
import NotificationHub
internal import Push

/// One message for one target, ready to be handed over.
struct PlannedDelivery: Sendable {
    let target: Target
    /// How often the target was tried before.
    let attempts: Int
    /// What is sent, or why nothing is.
    let request: Result<Request, PushRefusal>

    init(_ notification: HubNotification, to target: Target, attempts: Int, driver: (any PushDriver)?) {
        self.target = target
        self.attempts = attempts
        guard let driver else {
            request = .failure(PushRefusal(.skipped))
            return
        }
        request = Result { () throws(PushRefusal) in
            try driver.request(for: notification, to: target.description.handle)
        }
    }

    /// As the queue names the target.
    var registrationID: String { target.registrationID ?? QueuedMessage.unregistered }
    var platform: Platform { target.description.platform }

    /// The push service: what is wrong with it is wrong for all of its devices.
    var service: String {
        switch request {
        case .success(let request): request.authority
        case .failure: ""
        }
    }
}

extension PushResult {
    /// What an answer, or that there is none, comes to.
    init(_ result: Result<Response, any Error>, driver: (any PushDriver)?) {
        switch result {
        case .success(let response):
            self = driver?.result(of: response) ?? PushResult(.unknownError)
        case .failure(let error):
            let outcome = PushOutcome(noAnswer: error)
            // What may have been taken is not sent again.
            let isUnsent = (error as? any TransportFailure)?.isUnsent ?? false
            self.init(outcome, outcome == .pnsUnreachable && isUnsent ? .retry(afterSeconds: nil) : .settle)
        }
    }
}
