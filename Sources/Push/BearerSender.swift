// SPDX-License-Identifier: Apache-2.0
package import HTTP
internal import HTTPTypes
internal import System
internal import Text

/// Adds an access token to each push, and keeps the token fresh.
///
/// One token is fetched at a time, however many pushes want one. Pushes that come before there is a token wait for it; while an
/// old one is accepted, it is sent until the new one is there.
package final class BearerSender: PushSender {
    /// A token is renewed that long before its end, or at half of its life where that is later.
    package static let renewal = Duration.seconds(5 * 60)
    /// Processes that began together renew at different times, up to this much earlier.
    package static let maximumJitter = Duration.seconds(60)
    /// Pushes that wait for the first token; one more is `CredentialError.unavailable`.
    package static let maximumWaiting = 1_000
    /// Between two fetches that failed.
    static let backoff = Backoff(doubling: .seconds(1), to: .seconds(60))

    typealias Completion = @Sendable (Result<Response, any Error>) -> Void

    struct Waiting {
        let request: Request
        let completion: Completion
    }

    struct State {
        var token: HeldToken?
        var isFetching = false
        var waiting: [Waiting] = []
        /// Fetches in a row that failed.
        var failures = 0
        /// Tokens in a row that the service refused soon after they were fetched.
        var refusals = 0
        /// Why no token is fetched before that time.
        var pause: (error: CredentialError, end: ContinuousClock.Instant)?
    }

    struct HeldToken {
        let text: Secret
        /// When it was asked for.
        let asked: ContinuousClock.Instant
        let renewal: ContinuousClock.Instant
        let end: ContinuousClock.Instant
        /// Whether an answer was 401 to it.
        var isRefused = false
    }

    private enum Step {
        case send(HeldToken)
        case fail(CredentialError)
        case wait
    }

    private let source: any TokenSource
    private let tokens: any RequestSender
    private let pushes: any RequestSender
    private let now: @Sendable () -> ContinuousClock.Instant
    private let jitter: @Sendable () -> Duration
    private let state = Lock(State())

    /// - Parameters:
    ///   - source: how to sign in.
    ///   - tokens: carries the requests of `source`; ends each within a deadline of its own.
    ///   - pushes: carries the pushes; ends each within a deadline of its own.
    ///   - jitter: how much earlier than `renewal` a token is renewed, chosen for each token.
    package init(
        source: any TokenSource, tokens: any RequestSender, pushes: any RequestSender,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        jitter: @escaping @Sendable () -> Duration = { maximumJitter * Double.random(in: 0...1) }
    ) {
        (self.source, self.tokens, self.pushes) = (source, tokens, pushes)
        (self.now, self.jitter) = (now, jitter)
    }

    package func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        let now = now()
        let (step, fetches) = state.withLock { state in
            let fetches = state.beginFetch(at: now)
            if let token = state.token, token.end > now { return (Step.send(token), fetches) }
            guard state.isFetching else { return (Step.fail(state.pause?.error ?? .unavailable), false) }
            guard state.waiting.count < Self.maximumWaiting else { return (Step.fail(.unavailable), fetches) }
            state.waiting.append(Waiting(request: request, completion: completion))
            return (Step.wait, fetches)
        }
        // Before the push: it is under way for as long as the service takes, and the token is wanted soon.
        if fetches { fetch(asked: now) }
        switch step {
        case .send(let token): push(request, with: token, completion)
        case .fail(let error): completion(.failure(error))
        case .wait: break
        }
    }

    package var unsent: Int { state.withLock { $0.waiting.count } + pushes.unsent }

    /// A token that was asked for after that time stays, unless it was refused itself: by an answer to a push that waited for
    /// it. The next push fetches a new one.
    package func renewCredential(refused sentAt: ContinuousClock.Instant) {
        let now = now()
        state.withLock { state in
            guard let token = state.token, token.isRefused || token.asked <= sentAt else { return }
            state.token = nil
            // A service that refuses every new token must not cause one fetch after the other.
            state.refusals = token.asked.duration(to: now) < Self.backoff.longest ? state.refusals + 1 : 1
            if state.refusals > 1 { state.pause = (.unavailable, now + Self.backoff.pause(after: state.refusals - 2)) }
        }
    }

    private func fetch(asked: ContinuousClock.Instant) {
        source.fetch(by: tokens) { [self] result in
            let token = result.map { HeldToken($0, asked: asked, jitter: jitter()) }
            for waiting in take(token) {
                switch token {
                case .success(let token): push(waiting.request, with: token, waiting.completion)
                case .failure(let error): waiting.completion(.failure(error))
                }
            }
        }
    }

    /// Notes how a fetch has ended.
    /// - Returns: the pushes that waited for it.
    private func take(_ result: Result<HeldToken, CredentialError>) -> [Waiting] {
        let now = now()
        return state.withLock { state in
            state.isFetching = false
            switch result {
            case .success(let token):
                state.token = token
                state.failures = 0
                state.pause = nil
            case .failure(let error):
                state.pause = (error, now + Self.backoff.pause(after: state.failures))
                state.failures += 1
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    private func push(_ request: Request, with token: HeldToken, _ completion: @escaping Completion) {
        var request = request
        request.fields[.authorization] = "Bearer " + token.text.reveal()
        pushes.send(request) { [state] result in
            if case .success(let response) = result, response.status.code == 401 {
                state.withLock { if $0.token?.asked == token.asked { $0.token?.isRefused = true } }
            }
            completion(result)
        }
    }
}

extension BearerSender.State {
    /// Whether the caller must fetch a token now.
    fileprivate mutating func beginFetch(at now: ContinuousClock.Instant) -> Bool {
        if let token, token.renewal > now { return false }
        if isFetching { return false }
        if let pause, pause.end > now { return false }
        isFetching = true
        return true
    }
}

extension BearerSender.HeldToken {
    fileprivate init(_ token: AccessToken, asked: ContinuousClock.Instant, jitter: Duration) {
        let lifetime = Duration.seconds(token.lifetime)
        text = token.text
        self.asked = asked
        renewal = asked + max(lifetime - BearerSender.renewal - jitter, lifetime / 2)
        // A push takes some seconds to arrive, and its token must still be good then.
        end = asked + lifetime - min(.seconds(30), lifetime / 10)
    }
}
