// SPDX-License-Identifier: Apache-2.0
import Store
import System

/// Calls with a deadline, which are tried again where that is certain to do no harm.
///
/// Statements are made for READ COMMITTED, PostgreSQL's default, where few of them ever have to be. Where the database's
/// default is SERIALIZABLE, more have to be.
final class Database: Sendable {
    /// How often a call is tried at most, because the server gave up for others' sake, or because the connection broke.
    private static let maximumTries = 12
    /// The longest pauses before repetitions.
    static let backoff = Backoff(doubling: .milliseconds(2), to: .milliseconds(128))

    private let pool: ConnectionPool
    private let timeout: Duration

    init(_ pool: ConnectionPool, timeout: Duration) {
        (self.pool, self.timeout) = (pool, timeout)
    }

    /// One statement, which is a transaction by itself; `read` makes of its answer what the caller wants.
    func call<Result>(
        _ statement: Statement, _ values: [Value], _ read: (Rows) throws(CallFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(CallFailure) {
            return try attempt(statement, values, read)
        } catch {
            throw error.storeError(statement.name)
        }
    }

    /// As `call(_:_:_:)`, for who asks what the server has refused.
    func attempt<Result>(
        _ statement: Statement, _ values: [Value], _ read: (Rows) throws(CallFailure) -> Result
    ) throws(CallFailure) -> Result {
        try run(isRepeatable: statement.isRepeatable) { (connection, deadline) throws(CallFailure) in
            try read(connection.rows(statement, values, until: deadline))
        }
    }

    /// One statement whose answer is of no interest.
    /// - Returns: how many rows it has touched.
    @discardableResult
    func call(_ statement: Statement, _ values: [Value]) throws(StoreError) -> Int {
        try call(statement, values) { (rows) throws(CallFailure) in rows.changed }
    }

    /// Several statements, all of them or none. `body` may be called again, after a rollback.
    func transaction<Result>(
        _ name: String, _ body: (Transaction) throws(CallFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(CallFailure) {
            return try run(isRepeatable: false) { (connection, deadline) throws(CallFailure) in
                try Transaction(connection, deadline).run(body)
            }
        } catch {
            throw error.storeError(name)
        }
    }

    private func run<Result>(
        isRepeatable: Bool, _ body: (Connection, Deadline) throws(CallFailure) -> Result
    ) throws(CallFailure) -> Result {
        let deadline = Deadline.after(timeout)
        var tries = 0
        while true {
            tries += 1
            do throws(CallFailure) {
                return try lend(deadline, body)
            } catch {
                guard tries < Self.maximumTries, mayRepeat(error, isRepeatable), pause(error, tries, until: deadline)
                else { throw error }
            }
        }
    }

    private func lend<Result>(
        _ deadline: Deadline, _ body: (Connection, Deadline) throws(CallFailure) -> Result
    ) throws(CallFailure) -> Result {
        let loan = try pool.take(until: deadline)
        do throws(CallFailure) {
            let result = try body(loan.connection, deadline)
            pool.giveBack(loan, keeping: true)
            return result
        } catch {
            if case .silent = error { pool.suspect(loan) }
            pool.giveBack(loan, keeping: error.leavesConnection)
            throw error
        }
    }

    private func mayRepeat(_ failure: CallFailure, _ isRepeatable: Bool) -> Bool {
        switch failure {
        case .refused(let state) where state.isTransient: true
        // Another server may have taken over; this one has written nothing.
        case .refused(.readOnlyTransaction): pool.renew()
        case .lost, .silent, .refused(.unknownStatement): isRepeatable || failure.isUndone
        default: false
        }
    }

    /// Who lost against others waits a little, each for another time.
    /// - Returns: false when there is no time for it.
    private func pause(_ failure: CallFailure, _ tries: Int, until deadline: Deadline) -> Bool {
        guard !deadline.hasPassed else { return false }
        guard case .refused(let state) = failure, state.isTransient else { return true }
        let pause = Self.backoff.pause(after: tries - 1) * Double.random(in: 0...1)
        guard pause < deadline.timeLeft else { return false }
        Semaphore.sleep(pause)
        return true
    }
}

extension CallFailure {
    /// Whether the connection is as good as before.
    fileprivate var leavesConnection: Bool {
        switch self {
        // What this connection knows under that name another one does not: a proxy between us and the server.
        case .refused(.unknownStatement), .refused(.readOnlyTransaction): false
        case .refused, .told, .malformed: true
        default: false
        }
    }
}

/// A connection within a transaction.
struct Transaction {
    private let connection: Connection
    private let deadline: Deadline

    init(_ connection: Connection, _ deadline: Deadline) {
        (self.connection, self.deadline) = (connection, deadline)
    }

    func call(_ statement: Statement, _ values: [Value]) throws(CallFailure) -> Rows {
        try connection.rows(statement, values, until: deadline)
    }

    func run(_ sql: String) throws(CallFailure) {
        try connection.run(sql, until: deadline)
    }

    /// Until the last statement, COMMIT, is sent, nothing is done that lasts.
    fileprivate func run<Result>(_ body: (Transaction) throws(CallFailure) -> Result) throws(CallFailure) -> Result {
        let result: Result
        do throws(CallFailure) {
            try run("BEGIN")
            result = try body(self)
        } catch {
            switch error {
            case .lost, .late, .silent: throw error.undone
            default:
                // Where that fails, the connection is not clean and is closed, which rolls back as well.
                do throws(CallFailure) { try run("ROLLBACK") } catch {}
                throw error
            }
        }
        try run("COMMIT")
        return result
    }
}
