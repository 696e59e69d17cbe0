// SPDX-License-Identifier: Apache-2.0
public import DeviceAPI

/// What the app has to do about a call that failed. No case holds a credential, a handle or a message.
public enum DeviceClientError: Error, Equatable, Sendable {
    /// 401, also with a fresh token where a provider gives them: ask the user for name and password again, or to log in at their
    /// identity provider.
    case unauthorized(Problem)
    /// The provider of tokens gave none. Nothing was asked of the backend, or it has refused the token before that.
    case noToken(reason: String)
    /// 410 twice, also for an id that had just been asked for: the backend and its hub disagree. Try again later.
    case registrationGone(Problem)
    /// 429, 503, or 409 for a request whose first try is still under way: try again after `problem.retryAfter` seconds, or
    /// after a while of the app's choice.
    case busy(Problem)
    /// Any other status that is not a success. Repeating the same call will not help.
    case refused(Problem)
    /// No answer came; whether the backend acted on the call is unknown. Registering again is safe, and so is a send with
    /// the same key; one without a key may arrive twice.
    case unreachable(reason: String)
    /// The answer was a success and makes no sense: an address that is not the backend's, most likely.
    case malformedAnswer(Problem)
    /// The task that made the call was cancelled.
    case cancelled

    /// What the backend said; nil when it said nothing.
    public var problem: Problem? {
        switch self {
        case .unauthorized(let problem), .registrationGone(let problem), .busy(let problem), .refused(let problem),
            .malformedAnswer(let problem):
            problem
        case .noToken, .unreachable, .cancelled: nil
        }
    }

    /// The error for an answer that is not a success.
    init(_ problem: Problem) {
        self =
            switch problem.code {
            case .registrationGone: .registrationGone(problem)
            case let code? where code.isPassing: .busy(problem)
            case let code? where code.status == .unauthorized: .unauthorized(problem)
            case .some: .refused(problem)
            case nil: Self(withoutCode: problem)
            }
    }

    /// The answer of a web server before the backend, of an older backend, or with a code of a newer one.
    private init(withoutCode problem: Problem) {
        self =
            switch problem.status.code {
            case 401: .unauthorized(problem)
            case 410: .registrationGone(problem)
            case 429, 503: .busy(problem)
            case 409 where problem.retryAfter != nil: .busy(problem)
            default: .refused(problem)
            }
    }
}
