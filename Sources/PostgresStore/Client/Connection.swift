// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Glibc
import Store
import System

/// One connection to the server. libpq allows one thread at a time; the pool sees to that.
///
/// Nothing here waits without a deadline. libpq connects, with its `connect_timeout` for each server of the URL; the look-up
/// of a server's name has the system resolver's deadline (resolv.conf(5)). Then libpq is used in its non-blocking way, and
/// all waiting is in poll(2).
final class Connection: Sendable {
    let library: LibPQ
    /// Changed by libpq only, on the thread that the pool has lent the connection to.
    nonisolated(unsafe) private let handle: OpaquePointer
    private let prepared = Lock<Set<String>>([])
    /// A server that has said nothing for so long hangs.
    private let patience: Duration

    /// - Throws: `unreachable`, `late`.
    init(_ library: LibPQ, _ settings: ConnectionSettings, until deadline: Deadline) throws(CallFailure) {
        let keywords = settings.keywords
        let names = keywords.map { strdup($0.name) } + [nil]
        let values = keywords.map { strdup($0.value) } + [nil]
        defer { (names + values).forEach { free($0) } }
        let handle = names.map { UnsafePointer($0) }.withUnsafeBufferPointer { names in
            values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in
                library.functions.PQconnectdbParams(names.baseAddress, values.baseAddress, 1)
            }
        }
        guard let handle else { throw .unreachable(reason: "no memory for a connection") }
        self.library = library
        patience = settings.patience
        self.handle = handle
        guard library.functions.PQstatus(handle) == CONNECTION_OK else {
            let message = library.functions.PQerrorMessage(handle).map { String(cString: $0) }
            throw .unreachable(reason: ConnectionFault.reason(message ?? "", options: settings.options))
        }
        _ = library.functions.PQsetNoticeReceiver(handle, postgres_ignore_notice, nil)
        _ = library.functions.PQsetnonblocking(handle, 1)
        // libpq may have used up the caller's time on servers that are silent. The connection is still good.
        try prepare(settings, until: max(deadline, .after(patience)))
    }

    deinit { library.functions.PQfinish(handle) }

    private func prepare(_ settings: ConnectionSettings, until deadline: Deadline) throws(CallFailure) {
        let encoding = library.functions.PQparameterStatus(handle, "server_encoding").map { String(cString: $0) }
        guard encoding == nil || encoding?.uppercased() == "UTF8" else {
            throw .unreachable(reason: "the database's encoding is not UTF8")
        }
        try run(settings.preparation, until: deadline)
    }

    // MARK: Looking

    /// Whether nothing was heard while nothing was asked: an idle server says nothing unless it says good-bye.
    var isQuiet: Bool {
        var entry = pollfd(fd: library.functions.PQsocket(handle), events: Int16(POLLIN), revents: 0)
        return library.functions.PQstatus(handle) == CONNECTION_OK && poll(&entry, 1, 0) == 0
    }

    /// Whether the next caller finds it as it must be: alive, and in no transaction.
    var isClean: Bool {
        library.functions.PQstatus(handle) == CONNECTION_OK
            && library.functions.PQtransactionStatus(handle) == PQTRANS_IDLE
    }

    // MARK: Asking

    /// Statements without parameters, by the simple protocol; what they answer is dropped.
    func run(_ sql: String, until deadline: Deadline) throws(CallFailure) {
        guard library.functions.PQsendQuery(handle, sql) == 1 else { throw .lost(isUndone: true) }
        _ = try answer(until: deadline)
    }

    /// - Throws: `refused`, after which the connection may be used on; `lost`, `late`, after which it must not.
    func rows(_ statement: Statement, _ values: [Value], until deadline: Deadline) throws(CallFailure) -> Rows {
        try prepare(statement, values, until: deadline)
        let parameters = Parameters(values)
        let isSent = parameters.withPointers { pointers, lengths, formats in
            library.functions.PQsendQueryPrepared(
                handle, statement.name, Int32(clamping: values.count), pointers, lengths, formats, Parameters.binary)
        }
        guard isSent == 1 else { throw .lost(isUndone: true) }
        return try answer(until: deadline)
    }

    private func prepare(_ statement: Statement, _ values: [Value], until deadline: Deadline) throws(CallFailure) {
        guard !prepared.withLock({ $0.contains(statement.name) }) else { return }
        let types = values.map(\.type)
        let isSent = library.functions.PQsendPrepare(
            handle, statement.name, statement.sql, Int32(clamping: types.count), types)
        guard isSent == 1 else { throw .lost(isUndone: true) }
        do throws(CallFailure) {
            _ = try answer(until: deadline)
        } catch {
            // Only prepared, not done.
            throw error.undone
        }
        prepared.withLock { _ = $0.insert(statement.name) }
    }

    // MARK: Waiting

    /// The last answer to what was sent, once all have come.
    /// - Throws: `silent`, when it is late, and was sent so early that the server would have given it up by now.
    private func answer(until deadline: Deadline) throws(CallFailure) -> Rows {
        let start = ContinuousClock.now
        do throws(CallFailure) {
            return try lastResult(until: deadline)
        } catch {
            guard case .late(let isUndone) = error, start.duration(to: .now) >= patience else { throw error }
            throw .silent(isUndone: isUndone)
        }
    }

    private func lastResult(until deadline: Deadline) throws(CallFailure) -> Rows {
        try flush(until: deadline)
        var last: Rows?
        var failure: CallFailure?
        while let result = try nextResult(until: deadline) {
            let rows = Rows(library, result)
            switch library.functions.PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: last = rows
            default: failure = failure ?? refusal(result)
            }
        }
        if let failure { throw failure }
        guard let last else { throw .lost(isUndone: false) }
        return last
    }

    /// A refusal without a code is libpq's own: the connection broke.
    private func refusal(_ result: OpaquePointer) -> CallFailure {
        let code = library.functions.PQresultErrorField(result, Int32(UInt8(ascii: "C")))
            .map { SQLState(String(cString: $0)) }
        guard let code, !code.endsConnection, library.functions.PQstatus(handle) == CONNECTION_OK else {
            return .lost(isUndone: false)
        }
        return .refused(code)
    }

    private func flush(until deadline: Deadline) throws(CallFailure) {
        while true {
            switch library.functions.PQflush(handle) {
            case 0: return
            case 1:
                // The server may have to get rid of something before it reads on.
                let events = try wait(POLLIN | POLLOUT, until: deadline)
                if Int32(events) & POLLIN != 0 { try consume() }
            default: throw broken
            }
        }
    }

    private func nextResult(until deadline: Deadline) throws(CallFailure) -> OpaquePointer? {
        while library.functions.PQisBusy(handle) != 0 {
            _ = try wait(POLLIN, until: deadline)
            try consume()
        }
        return library.functions.PQgetResult(handle)
    }

    private func consume() throws(CallFailure) {
        guard library.functions.PQconsumeInput(handle) == 1 else { throw broken }
    }

    /// The system ends a connection whose peer acknowledges nothing for `tcp_user_timeout`.
    private var broken: CallFailure {
        let message = library.functions.PQerrorMessage(handle).map { String(cString: $0) }
        return message?.contains("timed out") == true ? .silent(isUndone: false) : .lost(isUndone: false)
    }

    /// - Returns: the events that came.
    private func wait(_ events: Int32, until deadline: Deadline) throws(CallFailure) -> Int16 {
        var entry = pollfd(
            fd: library.functions.PQsocket(handle), events: Int16(truncatingIfNeeded: events), revents: 0)
        BlockingNotice.post()
        while true {
            let count = poll(&entry, 1, Int32(clamping: deadline.millisecondsLeft))
            if count > 0 { return entry.revents }
            if count == 0 { throw .late(isUndone: false) }
            guard errno == EINTR else { throw .lost(isUndone: false) }
        }
    }
}

/// Parameters as libpq takes them: pointers into one piece of memory.
private struct Parameters {
    static let binary: Int32 = 1

    private var bytes: [UInt8] = []
    /// Where each begins; nil for NULL.
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []

    init(_ values: [Value]) {
        for value in values {
            let encoded = value.encoded
            offsets.append(encoded == nil ? nil : bytes.count)
            lengths.append(Int32(clamping: encoded?.count ?? 0))
            bytes += encoded ?? []
        }
        // So that what is empty has an address, too.
        bytes.append(0)
    }

    func withPointers<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        let formats = [Int32](repeating: Self.binary, count: lengths.count)
        return bytes.withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let pointers = offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } }
            return body(pointers, lengths, formats)
        }
    }
}
