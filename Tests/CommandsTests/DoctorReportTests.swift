// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

@testable import Commands

struct DoctorReportTests {
    @Test func `the worst finding is the step's verdict, and the worst step the report's`() {
        var report = DoctorReport()
        #expect(report.verdict == .ok)
        report.add(.nginx, [.skipped("not asked")])
        #expect(report.verdict == .ok && report.entries.last?.verdict == .skipped)
        report.add(.clock, [.ok("right"), .warning("it is not synchronized", fix: "x")])
        #expect(report.verdict == .warning && report.entries.last?.verdict == .warning)
        report.add(.hub, [.fail("no", fix: "x"), .ok("yes")])
        #expect(report.verdict == .fail)
        report.add(.push, [])
        #expect(report.entries.last?.verdict == .skipped)
    }

    @Test func `a finding is a line and its fix another`() {
        let lines = DoctorReport.lines(.store, [.ok("/a"), .fail("no users", fix: "add one")])
        #expect(
            lines == [
                "ok       store          /a", "wrong    store          no users", "         ->             add one",
            ])
    }

    @Test func `what another host says makes no line and no escape of its own`() throws {
        let finding = Finding.warning("of \u{1B}[31m\nwrong    hub", fix: "a\u{85}b")
        let lines = DoctorReport.lines(.tls, [finding])
        #expect(lines == ["warning  tls            of ?[31m?wrong    hub", "         ->             a?b"])
        var report = DoctorReport()
        report.add(.tls, [finding])
        let json = try JSONValue(parsing: Array(report.json(version: "1.2.3").utf8))
        #expect(json["verdict"]?.string == "warning" && json["version"]?.string == "1.2.3")
        let step = try #require(json["steps"]?.array?.first)
        #expect(step["step"]?.string == "tls" && step["verdict"]?.string == "warning")
        #expect(step["findings"]?.array?.first?["found"]?.string == "of ?[31m?wrong    hub")
        #expect(step["findings"]?.array?.first?["fix"]?.string == "a?b")
    }
}
