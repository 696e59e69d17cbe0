// SPDX-License-Identifier: Apache-2.0
import JSON
import Text

/// What was found at each step, for people and for scripts.
struct DoctorReport: Sendable {
    struct Entry: Equatable, Sendable {
        let step: Step
        let findings: [Finding]

        var verdict: Verdict { findings.map(\.verdict).max() ?? .skipped }
    }

    private(set) var entries: [Entry] = []

    init() {}

    mutating func add(_ step: Step, _ findings: [Finding]) {
        entries.append(Entry(step: step, findings: findings))
    }

    /// Of all of it. Steps that were left out do not make it worse.
    var verdict: Verdict {
        let worst = entries.map(\.verdict).max() ?? .ok
        return worst == .skipped ? .ok : worst
    }

    /// One line for each finding, and one for each fix. Some of it comes from other hosts: no line break of theirs makes a line of
    /// ours, no escape moves a cursor.
    static func lines(_ step: Step, _ findings: [Finding]) -> [String] {
        findings.flatMap { finding in
            let line = padded(finding.verdict.rawValue, 9) + padded(step.rawValue, 15) + finding.found
            return [line] + (finding.fix.map { [padded("", 9) + padded("->", 15) + $0] } ?? [])
        }.map(\.withoutControls)
    }

    /// `{"verdict":…,"version":…,"steps":[{"step":…,"verdict":…,"findings":[{"verdict":…,"found":…,"fix":…}]}]}`
    func json(version: String) -> String {
        JSONWriter.object { json in
            json.member("verdict", verdict.rawValue)
            json.member("version", version)
            json.member("steps", entries) { entry, json in
                json.member("step", entry.step.rawValue)
                json.member("verdict", entry.verdict.rawValue)
                json.member("findings", entry.findings) { finding, json in
                    json.member("verdict", finding.verdict.rawValue)
                    json.member("found", finding.found.withoutControls)
                    json.name("fix")
                    if let fix = finding.fix { json.string(fix.withoutControls) } else { json.null() }
                }
            }
        }.text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.utf8.count))
    }
}
