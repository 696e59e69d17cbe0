// SPDX-License-Identifier: Apache-2.0

/// The data of a server that has never run. It takes a second and more to make and a quarter of one to copy, so it is made
/// once; it goes with this process.
struct PostgresData: Sendable {
    private static let made = Result { try PostgresData(PostgresPrograms()) }

    private let folder: String
    private let caretaker: Caretaker

    private init(_ programs: PostgresPrograms) throws {
        folder = try PostgresServer.makeFolder()
        caretaker = try Caretaker(folder: folder)
        try programs.give(folder)
        let arguments = [
            "-D", folder + "/data", "-U", "app", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync",
        ]
        let log = folder + "/initdb.log"
        try programs.start("initdb", arguments, output: log).succeed(as: "initdb", log: log)
    }

    static func copy(to path: String) throws {
        try ChildProcess("/bin/cp", ["-a", made.get().folder + "/data", path]).succeed(as: "cp")
    }
}

extension ChildProcess {
    /// Waits until it has done what it was started for.
    /// - Parameter log: the file that it writes to; the error quotes its end.
    /// - Throws: when it fails, or does not end within `PostgresServer.seconds`.
    func succeed(as name: String, log: String? = nil) throws {
        let status = wait(seconds: PostgresServer.seconds)
        guard status == 0 else {
            stop()
            let end = status.map { "failed with \($0)" } ?? "did not end within \(PostgresServer.seconds) s"
            let said = log.flatMap(TextFile.read).map { ": …" + $0.suffix(500) } ?? ""
            throw PostgresServer.Fault(what: "\(name) \(end)\(said)")
        }
    }
}
