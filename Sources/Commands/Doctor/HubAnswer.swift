// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub

/// What the hub's answer to a signed question says of key and hub. Its words are looked at and never repeated.
enum HubAnswer: Equatable, Sendable {
    /// The key has every right, the hub is there.
    case accepted
    /// The hub did not know the key, or the signature was not made with it.
    case badSignature
    /// The signature was past its time, or before it.
    case expired
    /// The key is the hub's, and may not do everything.
    case missingRight
    /// There is no hub of that name.
    case noSuchHub
    case throttled
    case failing(status: Int)
    /// What answers does not speak the hub's language.
    case notAHub(status: Int)
    /// No answer came; the transport's own words.
    case noAnswer(String)

    /// A hub that does not exist answers, for some questions, 200 with this title.
    private static let catalogue = "Publicly Listed Services"

    init(_ answer: Result<Response, HubError>) {
        switch answer {
        case .failure(.unreachable(let reason, _)): self = .noAnswer(reason)
        case .failure(let error): self = .noAnswer("\(error)")
        case .success(let response): self = Self.judge(response)
        }
    }

    private static func judge(_ response: Response) -> HubAnswer {
        let code = response.status.code
        let detail = (try? ErrorDocument(decoding: response.body))?.detail
        switch code {
        case 200:
            guard (try? AtomFeed(decoding: response.body)) != nil else { return .notAHub(status: code) }
            return String(decoding: response.body, as: UTF8.self).contains(catalogue) ? .noSuchHub : .accepted
        case 401, 403:
            if detail == nil, !response.body.isEmpty || response.fields[.wwwAuthenticate] != nil {
                return .notAHub(status: code)
            }
            if response.fields[.retryAfter] != nil { return .throttled }
            if detail?.contains("claim is required") == true { return .missingRight }
            // The newer generation of servers says 403 without a word for a right that is missing.
            if code == 403 { return .missingRight }
            return detail?.hasPrefix("ExpiredToken") == true ? .expired : .badSignature
        case 404: return detail == nil ? .notAHub(status: code) : .noSuchHub
        case 429: return .throttled
        case 500...: return .failing(status: code)
        default: return detail == nil ? .notAHub(status: code) : .failing(status: code)
        }
    }
}
