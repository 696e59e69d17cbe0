// SPDX-License-Identifier: Apache-2.0

extension Dictionary {
    /// Above the capacity, keeps the half of it that has the highest rank.
    package mutating func halve(above capacity: Int, by rank: (Value) -> some Comparable) {
        if count > capacity { keepHighest(capacity / 2, by: rank) }
    }

    /// Keeps so many entries, those of the highest rank.
    package mutating func keepHighest(_ count: Int, by rank: (Value) -> some Comparable) {
        let kept = sorted { rank($0.value) > rank($1.value) }.prefix(count)
        self = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
