// SPDX-License-Identifier: Apache-2.0
import Store
import System
internal import Text

/// The turn that this store has, or had and has not given back.
final class TurnHolder: Sendable {
    private let held = Lock<Int64?>(nil)

    /// What it writes with; nil: it has none.
    var token: Int64? { held.withLock { $0 } }

    func take(_ token: Int64) { held.withLock { $0 = token } }

    /// - Returns: whether it was held still.
    func drop(_ token: Int64) -> Bool {
        held.withLock { held in
            guard held == token else { return false }
            held = nil
            return true
        }
    }
}

/// The turn is a row: who has it, its number, which grows with each taking, and until when, by the database's clock. Who
/// dies or is stopped loses it when that time has come; should he go on later, his number is not the last one any more.
extension PostgresSiteStore {
    /// A taking that is sent twice is one: nobody else draws that holder. A turn that ends later than one that is taken now
    /// was taken before the database's clock was set back, and its holder may be gone; one that lives has lost it, as after a
    /// pause.
    private static let takeHubQueueTurn = Statement.writingOnce(
        "takeHubQueueTurn",
        """
        UPDATE hub_turns SET token = token + 1, holder = $1, expires_at = clock_timestamp() + $2 * interval '1 ms'
        WHERE name = 'delivery' AND (
            expires_at <= clock_timestamp() OR expires_at > clock_timestamp() + $2 * interval '1 ms' OR holder = $1)
        RETURNING token
        """)
    /// Also after its time, as long as nobody else has taken it.
    private static let keepHubQueueTurn = Statement.writingOnce(
        "keepHubQueueTurn",
        """
        UPDATE hub_turns SET expires_at = clock_timestamp() + $2 * interval '1 ms'
        WHERE name = 'delivery' AND token = $1
        """)
    private static let endHubQueueTurn = Statement.writingOnce(
        "endHubQueueTurn",
        "UPDATE hub_turns SET expires_at = clock_timestamp() WHERE name = 'delivery' AND token = $1")

    package func takeHubQueueTurn() throws(StoreError) -> QueueTurn? {
        var random = SystemRandomNumberGenerator()
        let holder = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let began = ContinuousClock.now
        let values: [Value] = [.bytes(holder), .integer(options.turnLease.milliseconds)]
        let token = try database.call(Self.takeHubQueueTurn, values) { (rows) throws(CallFailure) -> Int64? in
            guard let row = rows.first else { return nil }
            return Int64(try row.integer(0))
        }
        guard let token else { return nil }
        turns.take(token)
        let lease = TurnLease(options.turnLease, since: began)
        return QueueTurn { [database, options] in
            lease.keep { () throws(StoreError) in
                try database.call(Self.keepHubQueueTurn, [.integer(token), .integer(options.turnLease.milliseconds)])
                    > 0
            }
        } _: { [database, turns] in
            guard turns.drop(token) else { return }
            // Where it cannot be given back, its time runs out.
            do throws(StoreError) { try database.call(Self.endHubQueueTurn, [.integer(token)]) } catch {}
        }
    }
}

/// How long the turn is certainly one's own.
private final class TurnLease: Sendable {
    private struct State {
        /// Before the question to which the database last said that it is.
        var confirmedAt: ContinuousClock.Instant
        var isLost = false
    }

    private let duration: Duration
    private let state: Lock<State>

    init(_ duration: Duration, since start: ContinuousClock.Instant) {
        self.duration = duration
        state = Lock(State(confirmedAt: start))
    }

    /// Asks when a third of the time is over. Where the database cannot be asked the turn is kept until its time is.
    func keep(_ ask: () throws(StoreError) -> Bool) -> Bool {
        let before = state.withLock { $0 }
        if before.isLost { return false }
        let began = ContinuousClock.now
        guard began >= before.confirmedAt + duration / 3 else { return true }
        do throws(StoreError) {
            let isKept = try ask()
            state.withLock { $0 = State(confirmedAt: began, isLost: !isKept) }
            return isKept
        } catch {
            return ContinuousClock.now < before.confirmedAt + duration
        }
    }
}
