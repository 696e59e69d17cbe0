// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// The kind of a problem, which is `code` in its body. Texts may change, but a code keeps its meaning and its status.
///
/// This is the one list. `script/reference` makes the page of codes of these comments, and a test compares the list with
/// `openapi.json` and with nginx's own answers.
public enum ProblemCode: String, CaseIterable, Sendable {
    // 400

    /// nginx or the server cannot read the bytes as a request. Correct the client.
    case unreadableRequest
    /// The body is not JSON, or not of the kind that the route needs: an object or a string. Correct it.
    case invalidBody
    /// The route does not accept `field`, or not together with the other fields. Leave it out.
    case unexpectedMember
    /// `field` is missing or empty. Send it.
    case missingValue
    /// The value of `field` has the wrong type, form, length or range. Correct it.
    case invalidValue
    /// `field` is not a push token, channel or subscription of this platform, or the server does not send to its host.
    /// Get it from the system again.
    case invalidHandle
    /// There is no platform of that name, or the server does not serve it. Use one that `detail` lists.
    case unknownPlatform
    /// `App` is not an app of this platform. Use one that `detail` lists, or leave `App` out.
    case unknownApp
    /// A tag has a character that no tag may have, or is too long. Correct it.
    case invalidTag
    /// There are more tags than a device, a request or an expression may have. Use fewer.
    case tooManyTags
    /// The recipient is not a user's name, a tag, a role, an expression, or a list of the permitted length. Correct it.
    case invalidRecipient
    /// A text is kept for a recipient, and there is no such user. Correct the name.
    case unknownRecipient
    /// The configuration has no role of that name. Correct the name.
    case unknownRole
    /// `FromDevice` is not one of the caller's devices. Register the device first.
    case unknownDevice
    /// A secure message is only for users, because the server keeps its text for each. Name only users in `To`, or
    /// leave `Secure` out.
    case secureNotPossible
    /// `after` names an entry that was deleted or has expired. Read the list from its beginning.
    case listPositionGone
    /// The password is too short, too long, or has a control character. Let the user choose another one.
    case unusablePassword

    // 401

    /// The name or the password is missing or wrong, or the user may not log in. Ask the user for both.
    case wrongCredentials
    /// The session of the cookie has ended. Log in again.
    case sessionEnded
    /// The app token is wrong, has expired or was revoked. Use another one.
    case wrongAppToken
    /// The identity provider's token is not accepted, for the reason in `detail`. Get another one.
    case invalidToken
    /// The identity provider's token has expired. Get a fresh one.
    case tokenExpired

    // 403

    /// The password in `field` is not the caller's. Ask the user for it.
    case wrongPassword
    /// The user has no password here, and the call needs one. The user logs in by other means.
    case noPassword
    /// The operator has not added this user, and the call is only for users who were added.
    case userNotAdded
    /// No rule lets the user claim this tag. The operator's `policy.tags` and roles decide.
    case tagNotAllowed
    /// No rule lets the user, or the app token, send to this recipient. `policy.sendTo`, roles and the token's `To` decide.
    case recipientNotAllowed
    /// Only secure messages to users may be sent to this recipient. Send a secure one.
    case secureOnly
    /// The app token lacks the scope that `detail` names. Use another one.
    case scopeMissing
    /// No app token may do that: log in with name and password. Or the token was made for a former user of the name:
    /// make another one.
    case tokenNotAllowed
    /// None of the user's roles lets the user administer.
    case notAdministrator
    /// Administration needs the cookie of a login. Log in at the site's page.
    case logInRequired
    /// No administrator may do that here, such as remove their own account. A command on the server can.
    case changeNotAllowed
    /// A page of another site makes the request, or shows a password in a form. Only the site's own pages may.
    case crossSite
    /// The registration ID belongs to another user. Register under an ID of your own.
    case foreignRegistration
    /// The user was removed while the device was registered.
    case userRemoved

    // 404, 405

    /// There is nothing at this path. Correct the address.
    case notFound
    /// There is no user of that name.
    case noSuchUser
    /// The user has no device with this ID.
    case noSuchDevice
    /// The user has no session with this ID.
    case noSuchSession
    /// The user has no app token with this ID.
    case noSuchToken
    /// The caller has no message or notification with this ID, or it has expired.
    case noSuchMessage
    /// The path does not have this method. `Allow` lists its methods.
    case methodNotAllowed

    // 409, 410

    /// The name is another user's, or a removed user's. Use another name.
    case userExists
    /// The password was changed while the request was under way. Log in again.
    case passwordChanged
    /// The `Idempotency-Key` was used for another request. Use a new key.
    case keyReused
    /// The first request with this `Idempotency-Key` ended without a response, so it is unknown if the server processed
    /// it. Use a new key to repeat it.
    case outcomeUnknown
    /// The server still processes the first request with this `Idempotency-Key`.
    case requestUnderWay
    /// No registration is possible under this ID any more. Register under a new ID.
    case registrationGone

    // 413, 414, 415

    /// The body is longer than the server accepts. Send less.
    case bodyTooLarge
    /// The message is longer than its platform accepts. Shorten it.
    case messageTooLarge
    /// Path and query are longer than nginx accepts. Shorten them.
    case uriTooLong
    /// The body does not say that it is JSON, or it is compressed. Send JSON, uncompressed.
    case unsupportedMediaType

    // 429, 431

    /// There were too many wrong passwords or app tokens.
    case tooManyFailedLogIns
    /// The user has sent more than `limits.sendsPerMinute`.
    case tooManySends
    /// The user has changed registrations more often than `limits.registrationsPerMinute`.
    case tooManyRegistrations
    /// The user has read lists more often than `limits.listsPerMinute`.
    case tooManyLists
    /// More of the user's bodies and lists are in flight than `limits.bytesUnderWay`.
    case tooManyBytes
    /// nginx had too many requests from this network.
    case tooManyCalls
    /// The sender has left as much unread with this user as one sender may. Reading makes room.
    case tooMuchUnread
    /// As many messages wait for their time as may. A cancelled one makes room.
    case tooManyScheduled
    /// The user has as many entries as one user may have. Deleting makes room.
    case tooManyEntries
    /// The hub accepts no more at present.
    case hubThrottled
    /// A header is longer than nginx accepts, or there are too many. Shorten them.
    case headerTooLarge

    // 500 and above

    /// A defect of the server. The log says more, under the ID in `detail`.
    case internalError
    /// The hub refused, or its response makes no sense. The operator's log has the reason.
    case hubRefused
    /// The server serves no platform. The operator configures one.
    case noPlatform
    /// Another request holds the store, or the same entry.
    case storeBusy
    /// The store cannot be used. The operator's log has the reason.
    case storeUnavailable
    /// The hub is not available, or cannot be reached.
    case hubUnavailable
    /// The keys of the token's issuer cannot be fetched, or the token's key is not known yet.
    case issuerUnavailable
    /// Too many requests or logins wait for their turn.
    case overloaded
    /// nginx cannot reach the server.
    case serviceUnavailable
    /// The server did not answer nginx in time, so it is unknown if it processed the request.
    /// Repeat it with its `Idempotency-Key`.
    case timedOut

    /// The status of every answer with this code.
    public var status: HTTPResponse.Status {
        switch self {
        case .unreadableRequest, .invalidBody, .unexpectedMember, .missingValue, .invalidValue, .invalidHandle,
            .unknownPlatform, .unknownApp, .invalidTag, .tooManyTags, .invalidRecipient, .unknownRecipient,
            .unknownRole, .unknownDevice, .secureNotPossible, .listPositionGone, .unusablePassword:
            .badRequest
        case .wrongCredentials, .sessionEnded, .wrongAppToken, .invalidToken, .tokenExpired: .unauthorized
        case .wrongPassword, .noPassword, .userNotAdded, .tagNotAllowed, .recipientNotAllowed, .secureOnly,
            .scopeMissing, .tokenNotAllowed, .notAdministrator, .logInRequired, .changeNotAllowed, .crossSite,
            .foreignRegistration, .userRemoved:
            .forbidden
        case .notFound, .noSuchUser, .noSuchDevice, .noSuchSession, .noSuchToken, .noSuchMessage: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .userExists, .passwordChanged, .keyReused, .outcomeUnknown, .requestUnderWay: .conflict
        case .registrationGone: .gone
        case .bodyTooLarge, .messageTooLarge: .contentTooLarge
        case .uriTooLong: .uriTooLong
        case .unsupportedMediaType: .unsupportedMediaType
        case .tooManyFailedLogIns, .tooManySends, .tooManyRegistrations, .tooManyLists, .tooManyBytes, .tooManyCalls,
            .tooMuchUnread, .tooManyScheduled, .tooManyEntries, .hubThrottled:
            .tooManyRequests
        case .headerTooLarge: .requestHeaderFieldsTooLarge
        case .internalError: .internalServerError
        case .hubRefused, .noPlatform: .badGateway
        case .storeBusy, .storeUnavailable, .hubUnavailable, .issuerUnavailable, .overloaded, .serviceUnavailable:
            .serviceUnavailable
        case .timedOut: .gatewayTimeout
        }
    }

    /// Whether the same request may succeed later: after `Retry-After`, if the answer has it.
    public var isPassing: Bool {
        self == .requestUnderWay || status == .tooManyRequests || status == .serviceUnavailable
    }
}
