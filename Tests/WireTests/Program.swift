// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support

/// The programs that these tests start. `NGINX_PROGRAM` and `APP_BACKEND_PROGRAM` name others: script/test-install
/// tries those of other systems.
enum Program {
    /// Debian keeps nginx where an ordinary user's PATH does not look.
    static let nginx: String? =
        named("NGINX_PROGRAM")
        ?? ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/sbin/nginx"]
        .first { access($0, X_OK) == 0 }

    /// The product, which the build puts beside the tests.
    static let appBackend: String = {
        if let named = named("APP_BACKEND_PROGRAM") { return named }
        let test = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: test).deletingLastPathComponent().appending(path: "app-backend").path
    }()

    private static func named(_ variable: String) -> String? {
        getenv(variable).map { String(cString: $0) }
    }

    /// The checkout.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// Whether the configuration that Debian's nginx package comes with is here, unchanged.
    static let hasDebianNginx: Bool = {
        let script = #". "$1/script/nginx-layout" && has_debian_nginx"#
        return (try? run("/bin/bash", ["-c", script, "nginx", root]))?.status == 0
    }()

    /// How a program ended and what it said.
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String

        /// What it complained of, a line each.
        var complaints: [String] { errors.split(separator: "\n").map(String.init) }
    }

    struct NotEnded: Error { let program: String }
    struct NotCopied: Error { let reason: String }

    /// Copies a program by another program: what this process has open for writing, a child that another test starts at
    /// that moment has open as well, and what a process has open for writing cannot be started (ETXTBSY).
    static func copyExecutable(_ source: String, to target: String) throws {
        let outcome = try run("/bin/cp", [source, target])
        guard outcome.status == 0 else { throw NotCopied(reason: outcome.errors) }
    }

    /// Runs a program to its end.
    /// - Throws: `NotEnded`, when it still runs after that time; it is killed then.
    static func run(
        _ program: String, _ arguments: [String], environment: [String] = [], input: ChildProcess.Input = .nothing,
        seconds: Int = 120
    ) throws -> Outcome {
        let folder = try ScratchFolder()
        let process = try ChildProcess(
            program, arguments, environment: environment, input: input, output: folder.path("out"),
            errors: folder.path("err"))
        guard let status = process.wait(seconds: seconds) else {
            process.stop(seconds: 0)
            throw NotEnded(program: program)
        }
        func text(_ name: String) throws -> String { try String(contentsOfFile: folder.path(name), encoding: .utf8) }
        return Outcome(status: status, output: try text("out"), errors: try text("err"))
    }
}
