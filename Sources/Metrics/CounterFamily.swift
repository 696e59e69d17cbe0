// SPDX-License-Identifier: Apache-2.0
import System

/// Numbers that only grow, one for each set of labels.
package final class CounterFamily<Labels: LabelSet>: Collector {
    private let name: MetricName
    private let counts: Lock<SeriesTable<Labels, UInt64>>

    /// - Parameter initial: told as 0 before they are counted.
    package init(_ name: MetricName, initial: [Labels]) {
        self.name = name
        counts = Lock(SeriesTable(initial, 0))
    }

    package convenience init(_ name: MetricName) {
        self.init(name, initial: [])
    }

    /// All of them are told from the beginning.
    package convenience init(_ name: MetricName) where Labels: CaseIterable {
        self.init(name, initial: Array(Labels.allCases))
    }

    package func increment(_ labels: Labels, by amount: Int = 1) {
        counts.withLock { $0.change(labels, from: 0) { $0 &+= UInt64(clamping: amount) } }
    }

    package func collect(into exposition: inout Exposition) {
        let series = counts.withLock(\.self).sorted
        exposition.family(name, .counter)
        for (labels, _, count) in series { exposition.sample(name, labels, count) }
    }
}

extension CounterFamily<NoLabels> {
    package func increment(by amount: Int = 1) {
        increment(NoLabels(), by: amount)
    }
}
