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
        try programs.start("initdb", arguments, output: folder + "/initdb.log").succeed(as: "initdb")
    }

    static func copy(to path: String) throws {
        try ChildProcess("/bin/cp", ["-a", made.get().folder + "/data", path]).succeed(as: "cp")
    }
}

extension ChildProcess {
    /// Waits until it has done what it was started for.
    /// - Throws: when it fails.
    func succeed(as name: String) throws {
        guard wait(seconds: PostgresServer.seconds) == 0 else {
            stop()
            throw PostgresServer.Fault(what: "\(name) failed")
        }
    }
}
