// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import HTTPTypes
internal import Push
import System

/// Reaches subscriptions that were made with a former key, after the key was rotated.
///
/// A push service takes a message only by the key that its subscription was made with (RFC 8292 section 4.2), and says so with
/// 400, 401 or 403. It has not taken the message then, so the same one may be sent again with another key: no device gets it
/// twice. Which key a subscription is for is remembered, so that later messages go there at once.
final class FormerKeySender: PushSender {
    /// Subscriptions whose key is remembered; when there are more, all are found out again.
    static let capacity = 65_536

    private let inner: any PushSender
    /// The current key's first.
    private let authorizations: [VAPIDAuthorization]
    private let onFormerKey: @Sendable () -> Void
    /// The place of the key in `authorizations`, by the hash of the subscription's address: no handle is kept.
    private let known = Lock<[Int: Int]>([:])

    /// - Parameters:
    ///   - authorizations: the current key's, with which requests come here, and those of the former ones.
    ///   - onFormerKey: a push service took a message by a former key.
    init(
        _ inner: any PushSender, authorizations: [VAPIDAuthorization], onFormerKey: @escaping @Sendable () -> Void
    ) {
        self.inner = inner
        self.authorizations = authorizations
        self.onFormerKey = onFormerKey
    }

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        let subscription = "\(request.authority)\(request.path)?\(request.query)".hashValue
        let first = known.withLock { $0[subscription] } ?? 0
        let others = authorizations.indices.filter { $0 != first }
        attempt(Attempt(request: request, subscription: subscription, key: first, others: others[...]), completion)
    }

    var unsent: Int { inner.unsent }
    func renewCredential(refused sentAt: ContinuousClock.Instant) { inner.renewCredential(refused: sentAt) }
    func reconnect(after time: ContinuousClock.Instant) { inner.reconnect(after: time) }

    private struct Attempt {
        let request: Request
        let subscription: Int
        /// The place of the key to try now.
        let key: Int
        /// The places of the keys to try after it.
        let others: ArraySlice<Int>
    }

    private func attempt(
        _ attempt: Attempt, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void
    ) {
        inner.send(signed(attempt)) { [self] result in
            guard case .success(let response) = result, Self.mayBeForAnotherKey(response) else {
                if case .success(let response) = result, response.status.kind == .successful { note(attempt) }
                return completion(result)
            }
            guard let next = attempt.others.first else { return completion(result) }
            self.attempt(
                Attempt(
                    request: attempt.request, subscription: attempt.subscription, key: next,
                    others: attempt.others.dropFirst()), completion)
        }
    }

    /// The request with that key's token. One that cannot be signed goes as it is, and the push service refuses it.
    private func signed(_ attempt: Attempt) -> Request {
        guard attempt.key > 0, authorizations.indices.contains(attempt.key) else { return attempt.request }
        var request = attempt.request
        if let field = try? authorizations[attempt.key].field(for: "https://\(request.authority)") {
            request.fields[.authorization] = field.reveal()
        }
        return request
    }

    private static func mayBeForAnotherKey(_ response: Response) -> Bool {
        [400, 401, 403].contains(response.status.code)
    }

    private func note(_ attempt: Attempt) {
        guard attempt.key > 0 else { return }
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll() }
            known[attempt.subscription] = attempt.key
        }
        onFormerKey()
    }
}
