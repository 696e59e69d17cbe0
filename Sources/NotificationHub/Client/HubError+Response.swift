// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import HTTPTypes

extension HubError {
    /// How long to wait when the hub does not say, or says it as a date; in seconds.
    static let defaultRetrySeconds = 10
    /// A hub that asks for longer is asked again after this; in seconds.
    static let maximumRetrySeconds = 3600

    /// What an answer that is not a success means. 403 is two things: with `Retry-After` an exhausted quota.
    init(_ response: Response) {
        let retryAfter = response.fields[.retryAfter]
        switch response.status.code {
        case 401: self = .unauthorized
        case 403 where retryAfter == nil: self = .unauthorized
        case 404: self = .notFound
        case 410: self = .registrationGone
        case 413: self = .payloadTooLarge
        case 403, 429: self = .throttled(retryAfterSeconds: Self.seconds(retryAfter))
        case 503:
            self = .unavailable(retryAfterSeconds: Self.seconds(retryAfter), code: Self.code(in: response.body))
        default: self = .refused(status: response.status.code, code: Self.code(in: response.body))
        }
    }

    private static func seconds(_ text: String?) -> Int {
        let seconds = text.flatMap { Int($0) } ?? defaultRetrySeconds
        return min(max(seconds, 1), maximumRetrySeconds)
    }

    /// Empty when the body is not the hub's document, as when something between us and the hub answered.
    private static func code(in body: [UInt8]) -> String {
        do throws(AtomError) {
            return try ErrorDocument(decoding: body).loggableCode
        } catch {
            return ""
        }
    }
}
