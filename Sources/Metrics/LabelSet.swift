// SPDX-License-Identifier: Apache-2.0

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

/// A family's series as they are now. More than `maximum` are not kept: the sets of labels are bounded by what they are
/// made of, and this is for the day when one of them is not.
struct SeriesTable<Labels: LabelSet, Value: Sendable>: Sendable {
    static var maximum: Int { 1_000 }

    private(set) var values: [Labels: Value]

    /// - Parameter initial: there from the beginning, so that their first change is seen as one.
    init(_ initial: [Labels], _ empty: Value) {
        values = Dictionary(initial.map { ($0, empty) }) { first, _ in first }
    }

    mutating func change(_ labels: Labels, from empty: @autoclosure () -> Value, _ body: (inout Value) -> Void) {
        guard values.count < Self.maximum || values[labels] != nil else { return }
        body(&values[labels, default: empty()])
    }

    /// In an order that stays the same.
    var sorted: [(labels: Labels, texts: [String], value: Value)] {
        values.map { ($0.key, $0.key.values, $0.value) }.sorted { $0.texts.lexicographicallyPrecedes($1.texts) }
    }
}
