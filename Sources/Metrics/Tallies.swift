// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// What a series holds: it can be counted in parts that are put together later.
protocol Tally: Sendable {
    /// Nothing counted.
    init()
    mutating func merge(_ other: Self)
}

extension UInt64: Tally {
    mutating func merge(_ other: UInt64) { self &+= other }
}

/// The series of one family, counted in several tables so that threads which count at the same time hardly ever wait for
/// each other, and put together when they are read.
final class Tallies<Labels: LabelSet, Value: Tally>: Sendable {
    /// A power of two, more than there are threads at work on most hosts.
    private static var tableCount: Int { 8 }

    private let tables: [Lock<SeriesTable<Labels, Value>>]

    /// - Parameter initial: there from the beginning.
    init(_ initial: [Labels]) {
        tables = (0..<Self.tableCount).map { _ in Lock(SeriesTable(initial)) }
    }

    func change(_ labels: Labels, _ body: (inout Value) -> Void) {
        // The address of the thread's own data, in pages: threads that are there at the same time differ in it.
        let thread = UInt(pthread_self()) >> 12
        let index = Int(truncatingIfNeeded: (thread ^ thread >> 3 ^ thread >> 7) & UInt(Self.tableCount - 1))
        tables[index].withLock { $0.change(labels, body) }
    }

    /// All of them, in an order that stays the same.
    var sorted: [(labels: Labels, texts: [String], value: Value)] {
        var all: [Labels: Value] = [:]
        for table in tables { all.merge(table.withLock(\.values)) { $0.merging($1) } }
        return all.map { ($0.key, $0.key.values, $0.value) }.sorted { $0.texts.lexicographicallyPrecedes($1.texts) }
    }
}

extension Tally {
    fileprivate func merging(_ other: Self) -> Self {
        var sum = self
        sum.merge(other)
        return sum
    }
}

/// Series as one table has them. More than `maximum` are not kept: the sets of labels are bounded by what they are made
/// of, and this is for the day when one of them is not.
struct SeriesTable<Labels: LabelSet, Value: Tally>: Sendable {
    static var maximum: Int { 1_000 }

    private(set) var values: [Labels: Value]

    init(_ initial: [Labels]) {
        values = Dictionary(initial.map { ($0, Value()) }) { first, _ in first }
    }

    mutating func change(_ labels: Labels, _ body: (inout Value) -> Void) {
        guard values.count < Self.maximum || values[labels] != nil else { return }
        body(&values[labels, default: Value()])
    }
}
