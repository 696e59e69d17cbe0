// SPDX-License-Identifier: Apache-2.0
import Metrics
import Testing

/// The text as Prometheus reads it, to the byte.
struct ExpositionTests {
    private struct Label: LabelSet, CaseIterable {
        static let names: [StaticString] = ["path", "word"]
        static let allCases = [Label(path: "b", word: "y")]
        let path: String
        let word: String

        var values: [String] { [path, word] }
    }

    private let name = MetricName("things_total", "How many things.")

    private func text(_ collector: any Collector) -> String {
        var exposition = Exposition()
        collector.collect(into: &exposition)
        return String(decoding: exposition.bytes, as: UTF8.self)
    }

    @Test func `a counter without labels begins at nothing`() {
        let counter = CounterFamily<NoLabels>(name)
        #expect(text(counter) == "# HELP things_total How many things.\n# TYPE things_total counter\nthings_total 0\n")
        counter.increment(by: 3)
        #expect(text(counter).hasSuffix("\nthings_total 3\n"))
    }

    @Test func `series have one order, with those first told that were promised`() {
        let counter = CounterFamily<Label>(name)
        #expect(text(counter).hasSuffix("counter\nthings_total{path=\"b\",word=\"y\"} 0\n"))
        counter.increment(Label(path: "c", word: "x"))
        counter.increment(Label(path: "a", word: "x"), by: 2)
        let lines = text(counter).split(separator: "\n").dropFirst(2)
        #expect(
            Array(lines) == [
                #"things_total{path="a",word="x"} 2"#, #"things_total{path="b",word="y"} 0"#,
                #"things_total{path="c",word="x"} 1"#,
            ])
    }

    @Test func `a label cannot break out of its line`() {
        let counter = CounterFamily<Label>(name, initial: [Label(path: "a\"} 9\nforged 1\\", word: "é")])
        #expect(text(counter).hasSuffix("counter\nthings_total{path=\"a\\\"} 9\\nforged 1\\\\\",word=\"é\"} 0\n"))
    }

    @Test func `a histogram's buckets are cumulative, with their bounds in them`() {
        let histogram = HistogramFamily<NoLabels>(MetricName("took_seconds", "How long."))
        for duration: Duration in [.zero, .milliseconds(1), .microseconds(1_001), .seconds(30), .seconds(31)] {
            histogram.observe(NoLabels(), duration)
        }
        #expect(
            text(histogram) == """
                # HELP took_seconds How long.
                # TYPE took_seconds histogram
                took_seconds_bucket{le="0.001"} 2
                took_seconds_bucket{le="0.003"} 3
                took_seconds_bucket{le="0.01"} 3
                took_seconds_bucket{le="0.03"} 3
                took_seconds_bucket{le="0.1"} 3
                took_seconds_bucket{le="0.3"} 3
                took_seconds_bucket{le="1"} 3
                took_seconds_bucket{le="3"} 3
                took_seconds_bucket{le="10"} 3
                took_seconds_bucket{le="30"} 4
                took_seconds_bucket{le="+Inf"} 5
                took_seconds_sum 61.002001
                took_seconds_count 5

                """)
    }

    @Test func `a clock that goes back counts as no time at all`() {
        let histogram = HistogramFamily<NoLabels>(name)
        histogram.observe(NoLabels(), .seconds(-5))
        #expect(text(histogram).contains("things_total_bucket{le=\"0.001\"} 1\n"))
        #expect(text(histogram).contains("things_total_sum 0.0\n"))
    }

    @Test func `numbers are spelled as Prometheus reads them`() {
        let values: [any SampleValue] = [
            Double.infinity, -Double.infinity, Double.nan, 1.5, 1e300, Int64.min, UInt64.max, true, false,
        ]
        #expect(
            values.map(\.sampleText) == [
                "+Inf", "-Inf", "NaN", "1.5", "1e+300", "-9223372036854775808", "18446744073709551615", "1", "0",
            ])
    }

    @Test func `a family does not grow without end, and what it has goes on counting`() {
        let counter = CounterFamily<Label>(name)
        for number in 0..<5_000 { counter.increment(Label(path: "p\(number)", word: "x")) }
        for _ in 0..<3 { counter.increment(Label(path: "b", word: "y")) }
        let lines = text(counter).split(separator: "\n")
        #expect(lines.count == 2 + 1_000)
        #expect(lines.contains(#"things_total{path="b",word="y"} 3"#))
    }

    @Test func `what many count at once is counted whole`() async {
        let counter = CounterFamily<Label>(name)
        let histogram = HistogramFamily<Label>(name)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 {
                        counter.increment(Label(path: "a", word: "x"))
                        histogram.observe(Label(path: "a", word: "x"), .seconds(2))
                    }
                }
            }
        }
        #expect(text(counter).contains("things_total{path=\"a\",word=\"x\"} 8000\n"))
        #expect(text(histogram).contains("things_total_count{path=\"a\",word=\"x\"} 8000\n"))
        #expect(text(histogram).contains("things_total_sum{path=\"a\",word=\"x\"} 16000.0\n"))
    }

    @Test func `the process tells its own numbers`() throws {
        let text = text(ProcessReadings(startedAt: 1_796_000_000.5))
        #expect(text.contains("\nprocess_start_time_seconds 1796000000.5\n"))
        for name in [
            "process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes",
            "process_open_fds", "process_max_fds",
        ] {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + " ") }, "\(name)")
            let value = try #require(line.split(separator: " ").last.flatMap { Double($0) })
            #expect(value > 0, "\(name)")
        }
    }
}
