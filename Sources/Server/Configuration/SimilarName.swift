// SPDX-License-Identifier: Apache-2.0

/// Finds the name that was meant by a mistyped one, of commands and of the configuration's keys.
package enum SimilarName {
    /// Longer words are no mistyped names, in bytes.
    package static let maximumLength = 64
    /// So many letters of a mistyped name may be wrong, missing or too many.
    private static let maximumDistance = 2

    /// - Returns: the name with the fewest other letters, of which the case does not count; nil: none is near.
    package static func nearest(to word: String, of names: some Sequence<String>) -> String? {
        guard (1...maximumLength).contains(word.utf8.count) else { return nil }
        let lowercased = word.lowercased()
        let distances = names.map { (name: $0, distance: distance($0.lowercased(), lowercased)) }
        let nearest = distances.min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        return nearest.flatMap { $0.distance <= min(maximumDistance, word.utf8.count - 1) ? $0.name : nil }
    }

    /// Returns how many letters must be changed, added or removed to make the one word the other (Levenshtein).
    private static func distance(_ one: String, _ other: String) -> Int {
        var row = Array(0...other.utf8.count)
        for (line, letter) in one.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, otherLetter) in other.utf8.enumerated() {
                let changed = diagonal + (letter == otherLetter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.utf8.count]
    }
}
