// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support

/// A home directory on a shared host with the product in it, laid out as docs/operate/shared-hosting.md says, of the files
/// that are shipped.
final class HostedHome: Sendable {
    private let scratch: ScratchFolder

    var path: String { scratch.path }
    /// The folder of the program, out of every web server's reach.
    var folder: String { scratch.path("app-backend") }
    var program: String { folder + "/app-backend" }
    /// The folder that the site's name leads to.
    var web: String { scratch.path("public_html") }
    var certificates: String { scratch.path("tls") }

    /// - Parameter members: of the configuration, beside those of the shipped one.
    init(configuration members: String) throws {
        scratch = try ScratchFolder()
        _ = try scratch.makeFolder("app-backend")
        try Program.copyExecutable(Program.appBackend, to: scratch.path("app-backend/app-backend"))
        try FrontDoor.makeCertificate(in: try scratch.makeFolder("tls"))
        try copy(Program.root + "/nginx/html", to: web)
        try ship("htaccess", to: "public_html/.htaccess", mode: 0o644)
        try ship("app-backend.fcgi", to: "public_html/app-backend.fcgi", mode: 0o700)
        try ship("multiwatch.sh", to: "app-backend/multiwatch.sh", mode: 0o700)
        try ship("app-backend.json", to: "app-backend/app-backend.json", mode: 0o600) { text in
            let end = text.lastIndex(of: "}") ?? text.endIndex
            return text[..<end] + ", \(BackendProcess.noLimits), \(members) }"
        }
        try own()
    }

    /// Gives to the account whatever the tests, which may be root's, have put here.
    func own() throws { try Account.own(path) }

    /// Copies one of the shipped files, after a change.
    func ship(_ name: String, to target: String, mode: mode_t, _ change: (String) throws -> String = { $0 }) throws {
        let text = try String(contentsOfFile: "\(Program.root)/hosting/\(name)", encoding: .utf8)
        try scratch.write(try change(text), to: target)
        chmod(scratch.path(target), mode)
    }

    func write(_ text: String, to name: String) throws {
        try scratch.write(text, to: name)
    }

    func makeFolder(_ name: String) throws { _ = try scratch.makeFolder(name) }

    /// Runs the program as its owner does it, who names no configuration.
    func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
        let command = Account.command(program, arguments)
        return try Program.run(command.program, command.arguments, input: .text(input))
    }

    /// Starts a server as the account.
    /// - Parameter log: where it says what it says, a file of the home.
    func start(_ program: String, _ arguments: [String], log: String) throws -> ChildProcess {
        let command = Account.command(program, arguments)
        let log = scratch.path(log)
        return try ChildProcess(
            command.program, command.arguments, environment: ["HOME=\(path)"], output: log, errors: log)
    }

    /// The processes of the program in this home, also those that other processes started.
    var processes: [pid_t] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { pid_t($0) }.filter { id in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe")) == program
        }
    }

    /// Everything readable that the web server and the program have written: their logs.
    func logs() -> [String: String] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        let logs = names.filter { $0.hasSuffix(".log") }
        return Dictionary(
            uniqueKeysWithValues: logs.map { name in
                (name, (try? String(contentsOfFile: scratch.path(name), encoding: .utf8)) ?? "")
            })
    }

    private func copy(_ source: String, to target: String) throws {
        let outcome = try Program.run("/bin/cp", ["--recursive", source, target])
        guard outcome.status == 0 else { throw Program.NotCopied(reason: outcome.errors) }
    }
}
