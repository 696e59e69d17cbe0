// SPDX-License-Identifier: Apache-2.0
import Store
import System
internal import Text

/// The lease that this store holds, or held and has not released.
final class LeaseHolder: Sendable {
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

/// The lease is a row: its holder, its token, which grows with each acquisition, and its end by the database's clock. A
/// process that dies or is stopped loses it at that time. If it goes on later, its token is not the last one any more.
extension PostgresSiteStore {
    /// An acquisition that is sent twice is one: no other process draws that holder. A lease that ends later than one that is
    /// acquired now is older than a step of the database's clock backwards, and its holder may be gone. A holder that
    /// lives has lost it, as after a pause.
    private static let acquireDeliveryLease = Statement.writingOnce(
        "acquireDeliveryLease",
        """
        UPDATE hub_turns SET token = token + 1, holder = $1, expires_at = clock_timestamp() + $2 * interval '1 ms'
        WHERE name = $3 AND (
            expires_at <= clock_timestamp() OR expires_at > clock_timestamp() + $2 * interval '1 ms' OR holder = $1)
        RETURNING token
        """)
    /// Also after its end, as long as no other process has acquired it.
    private static let renewDeliveryLease = Statement.writingOnce(
        "renewDeliveryLease",
        """
        UPDATE hub_turns SET expires_at = clock_timestamp() + $2 * interval '1 ms'
        WHERE name = $3 AND token = $1
        """)
    private static let releaseDeliveryLease = Statement.writingOnce(
        "releaseDeliveryLease",
        "UPDATE hub_turns SET expires_at = clock_timestamp() WHERE name = $2 AND token = $1")

    package func acquireDeliveryLease() throws(StoreError) -> DeliveryLease? {
        try acquireLease("delivery", held: lease)
    }

    func acquireLease(_ turn: String, held lease: LeaseHolder) throws(StoreError) -> DeliveryLease? {
        var random = SystemRandomNumberGenerator()
        let holder = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let began = ContinuousClock.now
        let values: [Value] = [.bytes(holder), .integer(options.leaseDuration.milliseconds), .text(turn)]
        let token = try database.call(Self.acquireDeliveryLease, values) { (rows) throws(CallFailure) -> Int64? in
            guard let row = rows.first else { return nil }
            return Int64(try row.integer(0))
        }
        guard let token else { return nil }
        lease.take(token)
        let term = LeaseTerm(options.leaseDuration, since: began)
        return DeliveryLease { [database, options] in
            term.renew { () throws(StoreError) in
                try database.call(
                    Self.renewDeliveryLease,
                    [.integer(token), .integer(options.leaseDuration.milliseconds), .text(turn)]) > 0
            }
        } _: { [database, lease] in
            guard lease.drop(token) else { return }
            // Where it cannot be given back, its time runs out.
            do throws(StoreError) {
                try database.call(Self.releaseDeliveryLease, [.integer(token), .text(turn)])
            } catch {}
        }
    }
}

/// How long this process certainly holds the lease.
private final class LeaseTerm: Sendable {
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

    /// Asks when a third of the time is over. Where the database cannot be asked the lease is held until its time is over.
    func renew(_ ask: () throws(StoreError) -> Bool) -> Bool {
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
