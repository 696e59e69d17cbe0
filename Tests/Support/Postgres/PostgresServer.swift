// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A PostgreSQL server of the tests' own, of Debian's package: its data and its socket are in a folder of its own, and where
/// it has no certificate it listens nowhere else. It ends with the process that started it, however that ends.
package final class PostgresServer: Sendable {
    package struct Fault: Error { package let what: String }

    /// One for all tests of a process; each makes a database of its own in it.
    package static let shared = Result { try PostgresServer(settings: ["max_connections=400"]) }

    /// Whatever has not come to its end by then is stuck. A busy machine takes a minute for what else takes a moment.
    package static let seconds = 300

    /// The socket's folder, as a URL's `host` has it.
    package let folder: String
    /// Where it listens as well, at 127.0.0.1, when it has a certificate.
    package let port: LoopbackPort?
    private let settings: [String]
    private let connectSeconds: Int
    private let programs: PostgresPrograms
    private let caretaker: Caretaker
    let process = ProcessBox()

    /// Makes the data and starts the server.
    /// - Parameters:
    ///   - settings: `name=value`, of postgresql.conf.
    ///   - certificate: what it shows to who comes by TCP.
    ///   - connectSeconds: how long a client waits for its connection.
    package init(
        settings: [String] = [], certificate: Certificate? = nil, connectSeconds: Int = PostgresServer.seconds
    ) throws {
        self.connectSeconds = connectSeconds
        programs = try PostgresPrograms()
        folder = try Self.makeFolder()
        caretaker = try Caretaker(folder: folder)
        port = try certificate.map { _ in try LoopbackPort() }
        // What is written need not be flushed: the system loses nothing when a process is killed.
        self.settings =
            ["listen_addresses=", "unix_socket_directories=\(folder)", "shared_buffers=16MB", "fsync=off"]
            + (port.map(Self.settings) ?? []) + settings
        try programs.give(folder)
        try PostgresData.copy(to: data)
        for file in certificate.map({ [$0.file, $0.key] }) ?? [] {
            try ChildProcess("/bin/cp", [file, data]).succeed(as: "cp")
            try programs.give(data + "/" + (file.split(separator: "/").last ?? ""))
        }
        try start()
    }

    /// The files are in the folder of the data.
    private static func settings(_ port: LoopbackPort) -> [String] {
        [
            "listen_addresses=127.0.0.1", "port=\(port.number)", "ssl=on", "ssl_cert_file=certificate.pem",
            "ssl_key_file=key.pem",
        ]
    }

    deinit { stop() }

    var data: String { folder + "/data" }

    /// For a database that is there.
    package func url(_ database: String) -> String {
        "postgresql://app@/\(database)?host=\(folder)&connect_timeout=\(connectSeconds)"
            + (port.map { "&port=\($0.number)" } ?? "")
    }

    /// Begins; what a server before it left in its data is recovered.
    package func start() throws {
        let arguments = ["-D", data] + settings.flatMap { ["-c", $0] }
        let child = try programs.start("postgres", arguments, output: folder + "/log")
        process.set(child)
        let hasSettled = Deadline.poll(seconds: Self.seconds) { isReady(child.id) || child.exitStatus != nil }
        guard hasSettled, child.exitStatus == nil else {
            throw Fault(what: "the server has not begun; see \(folder)/log")
        }
    }

    /// The eighth line of postmaster.pid says how far it is, the first whose line it is.
    private func isReady(_ id: pid_t) -> Bool {
        let lines =
            TextFile.read(data + "/postmaster.pid")?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
        return lines.count > 7 && lines[0] == "\(id)" && lines[7].hasPrefix("ready")
    }

    /// Ends in good order: a "fast" shutdown, which breaks connections off.
    package func stop() {
        guard let child = process.take() else { return }
        child.signal(SIGCONT)
        child.signal(SIGINT)
        if child.wait(seconds: Self.seconds) == nil { child.stop() }
    }

    /// A database of its own, empty. It is made of the template that allows no session: while a session is open, perhaps of
    /// the server's own housekeeping, no database can be made of a template.
    /// - Returns: its URL.
    package func makeDatabase() throws -> String {
        let name = "test_" + String(UInt64.random(in: 0 ... .max), radix: 36)
        try run("CREATE DATABASE \(name) TEMPLATE template0", in: "postgres")
        return url(name)
    }

    /// Does it as the server's owner.
    /// - Returns: what it answered: a line a row, columns parted by `|`.
    @discardableResult package func run(_ sql: String, url: String) throws -> String {
        let output = folder + "/psql-" + String(UInt64.random(in: 0 ... .max), radix: 36)
        defer { unlink(output) }
        let arguments = [
            "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "-v", "ON_ERROR_STOP=1", "-c", sql, url,
        ]
        let child = try ChildProcess(programs.path("psql"), arguments, output: output, errors: output)
        guard child.wait(seconds: Self.seconds) == 0 else {
            child.stop()
            throw Fault(what: "psql: \(TextFile.read(output) ?? "")")
        }
        var answer = TextFile.read(output) ?? ""
        if answer.hasSuffix("\n") { answer.removeLast() }
        return answer
    }

    /// A session that does it within a transaction, and keeps that open until it is ended.
    package func holding(_ sql: String, url: String) throws -> ChildProcess {
        let output = folder + "/holder-" + String(UInt64.random(in: 0 ... .max), radix: 36)
        defer { unlink(output) }
        let arguments = [
            "--no-psqlrc", "-c", "BEGIN", "-c", sql, "-c", "\\echo held", "-c", "SELECT pg_sleep(600)", url,
        ]
        let child = try ChildProcess(programs.path("psql"), arguments, output: output, errors: output)
        var isHeld: Bool { TextFile.read(output)?.contains("held") ?? false }
        Deadline.poll(seconds: Self.seconds) { isHeld || child.exitStatus != nil }
        guard isHeld else {
            child.stop()
            throw Fault(what: "psql: \(TextFile.read(output) ?? "")")
        }
        return child
    }

    @discardableResult private func run(_ sql: String, in database: String) throws -> String {
        try run(sql, url: url(database))
    }

    /// Short, because a socket's path may have 107 bytes.
    static func makeFolder() throws -> String {
        var template = Array("/tmp/pg-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Fault(what: "mkdtemp") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
