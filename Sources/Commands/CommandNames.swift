// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The names of the commands, for those that are mistyped. Without a command the program serves, and a group takes no
/// arguments, so ArgumentParser calls an unknown command an unexpected argument.
enum CommandNames {
    /// Longer words are no mistyped names, in bytes.
    private static let maximumLength = 32
    /// So many letters of a mistyped name may be wrong, missing or too many.
    private static let maximumDistance = 2

    /// - Parameter arguments: those of the process, without its own name.
    /// - Returns: nil, when the words in front are the name of a command.
    static func message(forUnknownIn arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var (command, path, further) = (root, "", ["help"])
        for word in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !word.hasPrefix("-"), !further.contains(word) else { return nil }
            guard let next = subcommands.first(where: { $0._commandName == word }) else {
                let similar = similar(to: word, of: subcommands.map { $0._commandName } + further)
                return "There is no such command." + (similar.map { " Did you mean \(path)\($0)?" } ?? "")
            }
            (command, path, further) = (next, path + word + " ", [])
        }
        return nil
    }

    /// The name that the word begins with, or is the beginning of; else the one with the fewest other letters.
    static func similar(to word: String, of names: [String]) -> String? {
        guard (1...maximumLength).contains(word.utf8.count) else { return nil }
        if let name = names.first(where: { word.hasPrefix($0) || $0.hasPrefix(word) }) { return name }
        let distances = names.map { (name: $0, distance: distance($0, word)) }
        let nearest = distances.min { $0.distance < $1.distance }
        return nearest.flatMap { $0.distance <= min(maximumDistance, word.utf8.count - 1) ? $0.name : nil }
    }

    /// How many letters must be changed, added or removed to make the one word the other (Levenshtein).
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
