// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server

/// The names of the commands, for those that are mistyped. Without a command the program serves, and a group takes no
/// arguments, so ArgumentParser calls an unknown command an unexpected argument.
enum CommandNames {
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
        guard (1...SimilarName.maximumLength).contains(word.utf8.count) else { return nil }
        return names.first { word.hasPrefix($0) || $0.hasPrefix(word) } ?? SimilarName.nearest(to: word, of: names)
    }
}
