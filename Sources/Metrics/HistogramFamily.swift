// SPDX-License-Identifier: Apache-2.0
import System

/// How long something took, one distribution for each set of labels, in seconds.
package final class HistogramFamily<Labels: LabelSet>: Collector {
    private let name: MetricName
    private let distributions: Lock<SeriesTable<Labels, Distribution>>

    /// - Parameter initial: told as 0 before they are observed.
    package init(_ name: MetricName, initial: [Labels]) {
        self.name = name
        distributions = Lock(SeriesTable(initial, Distribution()))
    }

    package convenience init(_ name: MetricName) {
        self.init(name, initial: [])
    }

    /// All of them are told from the beginning.
    package convenience init(_ name: MetricName) where Labels: CaseIterable {
        self.init(name, initial: Array(Labels.allCases))
    }

    package func observe(_ labels: Labels, _ duration: Duration) {
        distributions.withLock { $0.change(labels, from: Distribution()) { $0.add(duration) } }
    }

    package func collect(into exposition: inout Exposition) {
        let series = distributions.withLock(\.self).sorted
        exposition.family(name, .histogram)
        for (_, texts, distribution) in series {
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
struct Distribution: Sendable {
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
