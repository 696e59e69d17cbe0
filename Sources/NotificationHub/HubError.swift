// SPDX-License-Identifier: Apache-2.0

/// Why the hub did not do what it was asked, named for what the caller must do. It never holds a tag, a handle, a
/// message or a key: of the hub's own words only the code is kept.
package enum HubError: Error, Equatable, Sendable {
    /// The registration id may not be used any more: create a new one and register again, once.
    case registrationGone
    /// The hub has no such thing.
    case notFound
    /// The request is wrong as it is; the same again would be refused again. The code is the hub's, or ours
    /// (`invalidExpression`, `invalidHeader`, `missingRegistrationID`) when the request was not even sent.
    case refused(status: Int, code: String)
    /// The hub does not accept our key or its rights: the operator's affair.
    case unauthorized
    /// The message is larger than its push service, or the hub, takes.
    case payloadTooLarge
    /// Too much at once: try again after that many seconds.
    case throttled(retryAfterSeconds: Int)
    /// The hub, or a web server in front of it, cannot do it at present: try again after that many seconds. The code is
    /// the hub's; it may have acted unless that is `nothingDoneCode`.
    case unavailable(retryAfterSeconds: Int, code: String = "")
    /// No answer came. The text is the transport's own. `mayHaveActed` is false when it is certain that the request was
    /// never sent.
    case unreachable(String, mayHaveActed: Bool = true)
    /// The storage of a hub in this process cannot do it at present: try again later.
    case storage(HubStorageError)
    /// A hub in this process holds as much as it may: try again after that many seconds. The text says of what, for the log.
    case limitReached(String, retryAfterSeconds: Int)
    /// An answer came that is not in the hub's language. The text says what was expected.
    case malformedAnswer(String)
}

extension HubError {
    /// The code with which the built-in hub says that it is unavailable and has certainly done nothing: its storage
    /// cannot be written, or is busy.
    package static let nothingDoneCode = "50700"

    /// Whether the hub may still have done what it was asked; a send is then not made again.
    package var mayHaveActed: Bool {
        switch self {
        case .registrationGone, .notFound, .unauthorized, .payloadTooLarge, .throttled, .limitReached: false
        case .refused(let status, _): !(300..<500).contains(status)
        case .unavailable(_, let code): code != Self.nothingDoneCode
        case .unreachable(_, let mayHaveActed): mayHaveActed
        case .storage(let error): error.reason == .unavailable
        case .malformedAnswer: true
        }
    }
}

extension HubError: CustomStringConvertible {
    /// For the operator.
    package var description: String {
        switch self {
        case .registrationGone: "the registration id does not exist any more"
        case .notFound: "there is no such hub, or no such thing in it"
        case .refused(let status, let code) where code.isEmpty: "refused with status \(status)"
        case .refused(let status, let code): "refused with status \(status), code \(code)"
        case .unauthorized: "the key, or its rights, are not accepted"
        case .payloadTooLarge: "the message is larger than the hub or its push service takes"
        case .throttled(let seconds): "too much at once; to be tried again after \(seconds) s"
        case .unavailable(let seconds, let code) where code.isEmpty:
            "not available, status 503; to be tried again after \(seconds) s"
        case .unavailable(let seconds, let code):
            "not available, status 503, code \(code); to be tried again after \(seconds) s"
        case .unreachable(let reason, _): "no answer: \(reason)"
        case .storage(let error): "\(error)"
        case .limitReached(let cause, _): cause
        case .malformedAnswer(let expectation): "the answer is not a hub's: \(expectation)"
        }
    }
}
