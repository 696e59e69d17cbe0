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
    /// No answer came. The text is the transport's own.
    case unreachable(String)
    /// An answer came that is not in the hub's language. The text says what was expected.
    case malformedAnswer(String)
}
