// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import JSON
import Support
import Testing

/// What `app-backend doctor --json` said.
struct Diagnosis {
    let status: Int32
    let json: JSONValue

    init(_ outcome: Program.Outcome) throws {
        status = outcome.status
        json = try JSONValue(parsing: Array(outcome.output.utf8))
    }

    private var steps: [JSONValue] { json["steps"]?.array ?? [] }

    var verdict: String? { json["verdict"]?.string }

    /// The steps of that verdict, in their order.
    func steps(_ verdict: String) -> [String] {
        steps.filter { $0["verdict"]?.string == verdict }.compactMap { $0["step"]?.string }
    }

    /// The steps at which something is wrong; the exit status agrees with them.
    var wrong: [String] {
        #expect(status == (steps("wrong").isEmpty ? 0 : 1))
        return steps("wrong")
    }

    /// What was found at a step, a finding a line.
    func found(_ step: String) -> String { text(step, "found") }

    /// What to change there.
    func cure(_ step: String) -> String { text(step, "fix") }

    private func text(_ step: String, _ member: String) -> String {
        let findings = steps.first { $0["step"]?.string == step }?["findings"]?.array ?? []
        return findings.compactMap { $0[member]?.string }.joined(separator: "\n")
    }
}

extension WireSite {
    /// How a walk differs from the usual one.
    struct Walk {
        /// The configuration file; nil: the running backend's.
        var configuration: String?
        /// nil: the site's own front door.
        var url: String?
        var trustsCertificate = true
        /// Seconds for each question.
        var timeout = 60
        var more: [String] = []
    }

    /// Walks through the site, and searches what is said for the secrets that were used.
    func diagnose(_ walk: Walk = Walk()) throws -> Diagnosis {
        let trust = walk.trustsCertificate ? ["--ca-file", "\(certificates)/cert.pem"] : []
        let outcome = try Program.run(
            Program.appBackend,
            [
                "doctor", "--json", "--config", walk.configuration ?? backend.configuration, "--url",
                walk.url ?? "https://\(authority)", "--timeout", "\(walk.timeout)",
            ] + trust + walk.more)
        let said = (outcome.output + outcome.errors).lowercased()
        for form in secrets.forms { #expect(!said.contains(form)) }
        return try Diagnosis(outcome)
    }

    /// The running backend's configuration with one text in place of another.
    /// - Returns: the path of the new file.
    func configuration(replacing text: String, with other: String) throws -> String {
        let old = try String(contentsOfFile: backend.configuration, encoding: .utf8)
        #expect(old.contains(text))
        return try scratch.write(
            old.replacing(text, with: other), to: "doctor-\(UInt32.random(in: 0 ... .max)).json")
    }

    /// With it a command waits for the hub for a second. The service has its usual time, which a busy machine may need.
    func configurationOfLittlePatience() throws -> String {
        try configuration(replacing: #""timeout": 30"#, with: #""timeout": 1"#)
    }

    /// Runs `body` beside another nginx in front of the same backend, or of another server.
    func withFrontDoor(
        _ changes: FrontDoor.Changes, certificates: String? = nil, _ body: (FrontDoor) throws -> Void
    ) throws {
        let folder = try ScratchFolder()
        let door = try FrontDoor(changes, certificates: certificates ?? self.certificates, folder: folder.path("nginx"))
        defer { door.stop() }
        try body(door)
    }
}
