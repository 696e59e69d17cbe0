// SPDX-License-Identifier: Apache-2.0
import FastCGI
import Foundation
import Glibc
import HTTP
import Testing

@testable import Commands

/// The judgement of a socket whose service has not answered.
struct SocketFindingsTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let failure: FastCGIProbe.Failure
        /// Whether systemd opens the socket.
        var isSystemds = false
        var path = "/nowhere/app-backend.sock"
        var verdict = Verdict.fail
        let found: String
        let fix: String

        var testDescription: String { "\(failure)\(isSystemds ? ", systemd's" : ""): \(path)" }
    }

    static let rows: [Row] = [
        Row(failure: .missing, found: "there is no such socket", fix: "systemctl status app-backend.service"),
        Row(
            failure: .missing, isSystemds: true, found: "there is no such socket",
            fix: "systemctl enable --now app-backend.socket"),
        Row(failure: .refused, found: "nothing listens", fix: "systemctl status app-backend.service"),
        Row(
            failure: .refused, isSystemds: true, found: "nothing listens",
            fix: "systemctl restart app-backend.socket"),
        Row(failure: .refused, path: #filePath, found: "is not a socket", fix: "remove it"),
        Row(failure: .refused, isSystemds: true, path: #filePath, found: "is not a socket", fix: "remove it"),
        Row(failure: .forbidden, verdict: .warning, found: "this user may not connect", fix: "run it as root"),
        Row(failure: .timedOut, found: "no answer comes", fix: "journalctl -u app-backend"),
        Row(failure: .hungUp, found: "ended before the answer", fix: "journalctl -u app-backend"),
        Row(failure: .notFastCGI, found: "something else than the service", fix: "ListenStream="),
        Row(failure: .tooLarge, found: "something else than the service", fix: "ListenStream="),
        Row(failure: .system("no descriptors"), found: "no descriptors", fix: "--socket"),
    ]

    @Test(arguments: rows) func `each way in which no answer comes has its sentence and its fix`(row: Row) {
        let judge = SocketFindings(name: row.path, address: .unix(path: row.path), isSystemds: row.isSystemds)
        let findings = judge.findings(.failure(row.failure), version: "1.2.3", configuration: nil)
        #expect(
            findings.map(\.verdict) == [row.verdict] && findings.allSatisfy { $0.found.hasPrefix(row.path) }
                && findings.allSatisfy { $0.found.contains(row.found) && $0.fix?.contains(row.fix) == true },
            "\(findings)")
    }

    /// `/health` and `/api/config` as a service answers them.
    private func service(reload: String) throws(FastCGIProbe.Failure) -> RunningService {
        let workers = #""workers":{"busy":1,"total":4}"#
        let health = #"{"status":"ok","version":"1.2.3","store":"writable",\#(workers),"reload":\#(reload)}"#
        return try RunningService { (path) throws(FastCGIProbe.Failure) in
            Response.json(path == "/health" ? Array(health.utf8) : [])
        }
    }

    @Test func `a reload that was refused is a failure, with the reason`() throws {
        let refused = try service(reload: #"{"count":1,"refused":"configuration: workers: must be a number"}"#)
        let found = SocketFindings.findings(refused, "socket", version: "1.2.3", configuration: nil)
        #expect(found.map(\.verdict) == [.fail])
        #expect(found.first?.found.hasSuffix("configuration: workers: must be a number") == true)
        #expect(found.first?.fix?.contains("systemctl reload app-backend") == true)
        let taken = try service(reload: #"{"count":2}"#)
        let none = SocketFindings.findings(taken, "socket", version: "1.2.3", configuration: nil)
        #expect(none.map(\.verdict) == [.ok] && taken.reloads == 2)
    }
}

/// Where `check` tries to listen if the service does not answer.
struct CheckTrialTests {
    @Test func `a service that is busy or stopping is no other process, and its own socket is not tried`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "trial-\(UUID().uuidString)").path
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(number)
            unlink(path)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(isBound == 0)
        for failure in [FastCGIProbe.Failure.timedOut, .hungUp] {
            #expect(try CheckCommand.trial(of: .unix(path: path), failure) == nil)
        }
        for failure in [FastCGIProbe.Failure.refused, .missing, .forbidden] {
            #expect(try CheckCommand.trial(of: .unix(path: path), failure) == .unix(path: path + ".check"))
        }
        #expect(throws: ListenError.inUse(path)) { try CheckCommand.trial(of: .unix(path: path), .notFastCGI) }
    }
}
