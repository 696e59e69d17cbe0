// SPDX-License-Identifier: Apache-2.0
package import HTTP
import HTTPTypes
import Push
import System

/// Carries pushes to APNs, with the provider token that they need, each token over a connection of its own.
///
/// A transport is made for each token and is given no other. When the token is 45 to 50 minutes old, or the clock was set, the
/// next push opens a new one; the former one finishes its pushes and is closed. So it is when APNs ends a connection: pushes
/// that it says it has not processed are sent again over the next one.
package final class APNsSender: PushSender {
    /// Pushes that may wait for the first one on a connection.
    package static let defaultMaximumWaiting = 1024

    private let key: APNsKey?
    private let makeTransport: @Sendable () throws -> APNsTransport
    private let date: @Sendable () -> Int64
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let schedule: Lock<ConnectionSchedule>

    /// - Parameters:
    ///   - key: signs the tokens; nil where the transport shows a client certificate.
    ///   - maximumWaiting: pushes that may wait for the first one on a connection; one more fails as overloaded.
    ///   - now: seconds since 1970.
    ///   - instant: the clock that cannot be set.
    ///   - makeTransport: opens the way to APNs; called for each connection, and never under a lock.
    package init(
        key: APNsKey?, maximumWaiting: Int = defaultMaximumWaiting, now: @escaping @Sendable () -> Int64,
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        makeTransport: @escaping @Sendable () throws -> APNsTransport
    ) {
        self.key = key
        date = now
        self.instant = instant
        self.makeTransport = makeTransport
        schedule = Lock(ConnectionSchedule(usesTokens: key != nil, maximumWaiting: maximumWaiting))
    }

    package func send(
        _ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void
    ) {
        let push = PendingPush(request: request, completion: completion)
        guard schedule.withLock({ $0.add(push) }) else { return completion(.failure(PushNotSent.overloaded)) }
        proceed()
    }

    package var unsent: Int {
        let (waiting, connection) = schedule.withLock { ($0.waitingCount, $0.currentTransport) }
        return waiting + (connection?.sender.unsent ?? 0)
    }

    package func renewCredential(refused sentAt: ContinuousClock.Instant) {
        let now = now()
        schedule.withLock { $0.renewToken(refused: sentAt, at: now) }
        proceed()
    }

    package func reconnect(after time: ContinuousClock.Instant) {
        let now = now()
        schedule.withLock { $0.reconnect(after: time, at: now) }
        proceed()
    }

    /// Ends the pushes under way and refuses later ones.
    package func close() {
        let now = now()
        schedule.withLock { $0.close(at: now) }
        proceed()
    }

    private func now() -> Moment { Moment(date: date(), instant: instant()) }

    /// Does what is due: one thread at a time for each step, and no callback under the lock.
    private func proceed() {
        while true {
            let now = now()
            let (step, closable) = schedule.withLock { schedule in
                let step = schedule.next(at: now)
                return (step, schedule.takeClosable(at: now))
            }
            for transport in closable { transport.close() }
            guard let step else { return }
            perform(step)
        }
    }

    private func perform(_ step: ConnectionSchedule.Step) {
        switch step {
        case .open(let token): open(token)
        case .carry(let pushes, let connection, let isTrial):
            for push in pushes { carry(push, over: connection, isTrial: isTrial) }
        case .fail(let pushes, let error):
            for push in pushes { push.completion(.failure(error)) }
        }
    }

    private func open(_ token: ProviderToken?) {
        do {
            let token = try token ?? newToken()
            let transport = try makeTransport()
            let now = now()
            schedule.withLock { $0.opened(transport, token, at: now) }
        } catch {
            for push in schedule.withLock({ $0.openingFailed() }) {
                push.completion(.failure(PushNotSent(after: error)))
            }
        }
    }

    private func newToken() throws(CredentialError) -> ProviderToken? {
        guard let key else { return nil }
        let now = now()
        do {
            return ProviderToken(try key.token(issuedAt: now.date), madeAt: now)
        } catch {
            throw .unavailable
        }
    }

    private func carry(_ push: PendingPush, over connection: ConnectionSchedule.Connection, isTrial: Bool) {
        var request = push.request
        if let token = connection.token { request.fields[.authorization] = "bearer " + token.text.reveal() }
        let startedAt = instant()
        connection.transport.sender.send(request) { [self] result in
            let now = now()
            let ending = schedule.withLock {
                $0.ended(push, on: connection.id, isTrial: isTrial, startedAt: startedAt, result, at: now)
            }
            if !ending.isSentAgain { push.completion(result) }
            // APNs refuses the credential, so it would refuse it with these, too; or there is no way to APNs.
            for other in ending.alike { other.completion(result.mapError { PushNotSent(after: $0) }) }
            proceed()
        }
    }
}
