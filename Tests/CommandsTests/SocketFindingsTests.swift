// SPDX-License-Identifier: Apache-2.0
import FastCGI
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
}
