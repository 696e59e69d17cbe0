// SPDX-License-Identifier: Apache-2.0

/// Numbers that only grow, one for each set of labels.
package final class CounterFamily<Labels: LabelSet>: Collector {
    private let name: MetricName
    private let counts: Tallies<Labels, UInt64>

    /// - Parameter initial: told as 0 before they are counted.
    package init(_ name: MetricName, initial: [Labels]) {
        self.name = name
        counts = Tallies(initial)
    }

    package convenience init(_ name: MetricName) {
        self.init(name, initial: [])
    }

    /// All of them are told from the beginning.
    package convenience init(_ name: MetricName) where Labels: CaseIterable {
        self.init(name, initial: Array(Labels.allCases))
    }

    package func increment(_ labels: Labels, by amount: Int = 1) {
        counts.change(labels) { $0 &+= UInt64(clamping: amount) }
    }

    /// What was counted so far, in an order that stays the same.
    var all: [(labels: Labels, count: UInt64)] { counts.sorted.map { ($0.labels, $0.value) } }

    package func collect(into exposition: inout Exposition) {
        exposition.family(name, .counter)
        for (labels, _, count) in counts.sorted { exposition.sample(name, labels, count) }
    }
}

extension CounterFamily<NoLabels> {
    package func increment(by amount: Int = 1) {
        increment(NoLabels(), by: amount)
    }
}

/// How long something took, one distribution for each set of labels, in seconds.
package final class HistogramFamily<Labels: LabelSet>: Collector {
    private let name: MetricName
    private let distributions: Tallies<Labels, Distribution>

    /// - Parameter initial: told as 0 before they are observed.
    package init(_ name: MetricName, initial: [Labels]) {
        self.name = name
        distributions = Tallies(initial)
    }

    package convenience init(_ name: MetricName) {
        self.init(name, initial: [])
    }

    /// All of them are told from the beginning.
    package convenience init(_ name: MetricName) where Labels: CaseIterable {
        self.init(name, initial: Array(Labels.allCases))
    }

    package func observe(_ labels: Labels, _ duration: Duration) {
        distributions.change(labels) { $0.add(duration) }
    }

    package func collect(into exposition: inout Exposition) {
        exposition.family(name, .histogram)
        for (_, texts, distribution) in distributions.sorted {
            for (bound, count) in distribution.cumulative {
                exposition.sample(name, suffix: "_bucket", Labels.names, texts, bound: bound, count)
            }
            exposition.sample(name, suffix: "_sum", Labels.names, texts, distribution.seconds)
            exposition.sample(name, suffix: "_count", Labels.names, texts, distribution.count)
        }
    }
}

/// Durations sorted into few buckets, from a millisecond to half a minute: two to a power of ten, which is as exact as
/// an alert needs.
struct Distribution: Tally {
    private static let bounds: [(nanoseconds: Int64, text: String)] = [
        (1_000_000, "0.001"), (3_000_000, "0.003"), (10_000_000, "0.01"), (30_000_000, "0.03"),
        (100_000_000, "0.1"), (300_000_000, "0.3"), (1_000_000_000, "1"), (3_000_000_000, "3"),
        (10_000_000_000, "10"), (30_000_000_000, "30"),
    ]

    /// Each without those of the buckets below it; the last has no bound.
    private var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    private var nanoseconds: Int64 = 0

    mutating func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let whole = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let taken = max(0, whole.overflow ? .max : whole.partialValue &+ attoseconds / 1_000_000_000)
        let bucket = Self.bounds.firstIndex { taken <= $0.nanoseconds } ?? Self.bounds.count
        counts[bucket] &+= 1
        // For 292 years of them.
        nanoseconds = nanoseconds.addingReportingOverflow(taken).partialValue
    }

    mutating func merge(_ other: Distribution) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        nanoseconds = nanoseconds.addingReportingOverflow(other.nanoseconds).partialValue
    }

    var count: UInt64 { counts.reduce(0, &+) }
    var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Every bucket's bound and what is not above it.
    var cumulative: [(bound: String, count: UInt64)] {
        var sum: UInt64 = 0
        return zip(Self.bounds.map(\.text) + ["+Inf"], counts).map { bound, count in
            sum &+= count
            return (bound, sum)
        }
    }
}

/// What tells the series of one family apart. Its values are few and known: never a user's name, an id, a handle or a
/// path, for each combination is kept as long as the process lives, and by the monitoring system for years.
package protocol LabelSet: Hashable, Sendable {
    /// `[a-zA-Z_][a-zA-Z0-9_]*`, and neither `le` nor `__…`, which are Prometheus' own.
    static var names: [StaticString] { get }
    /// One for each name, in their order.
    var values: [String] { get }
}

extension LabelSet where Self: RawRepresentable<String> {
    package var values: [String] { [rawValue] }
}

/// Of a family with one series.
package struct NoLabels: LabelSet, CaseIterable {
    package static let names: [StaticString] = []
    package static let allCases = [NoLabels()]

    package init() {}

    package var values: [String] { [] }
}

/// A family's name, and what it says, for people.
package struct MetricName: Sendable {
    /// With its unit, and with `_total` at the end where it only grows.
    package let text: StaticString
    package let help: StaticString

    package init(_ text: StaticString, _ help: StaticString) {
        self.text = text
        self.help = help
    }
}

/// Something that has numbers to tell when it is asked: a family that was counted, or a reading that is made only then.
package protocol Collector: Sendable {
    /// Writes its families, whole, each once.
    func collect(into exposition: inout Exposition)
}
