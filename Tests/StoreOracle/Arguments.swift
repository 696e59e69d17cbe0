// SPDX-License-Identifier: Apache-2.0

struct WrongArguments: Error {
    let reason: String
}

/// What is on the command line: a command, words, `--name value` and `--flag`.
struct Arguments {
    private static let flags: Set = [
        "after-power-cut", "reindex", "tolerant", "unreliable", "wall-clock", "without-file-flushes",
        "without-folder-flushes",
    ]

    let command: String
    private(set) var words: [String] = []
    private var values: [String: String] = [:]
    private var given: Set<String> = []

    init(_ arguments: some Collection<String>) throws(WrongArguments) {
        var rest = arguments.makeIterator()
        guard let command = rest.next() else { throw WrongArguments(reason: "no command") }
        self.command = command
        while let argument = rest.next() {
            guard argument.hasPrefix("--") else {
                words.append(argument)
                continue
            }
            let name = String(argument.dropFirst(2))
            if Self.flags.contains(name) {
                given.insert(name)
            } else if let value = rest.next() {
                values[name] = value
            } else {
                throw WrongArguments(reason: "\(argument) has no value")
            }
        }
    }

    func has(_ flag: String) -> Bool { given.contains(flag) }

    func text(_ name: String) -> String? { values[name] }

    func word(_ index: Int, _ meaning: String) throws(WrongArguments) -> String {
        guard words.indices.contains(index) else { throw WrongArguments(reason: "no \(meaning)") }
        return words[index]
    }

    func number(_ name: String, or usual: Int) throws(WrongArguments) -> Int {
        guard let text = values[name] else { return usual }
        guard let number = Int(text), number >= 0 else { throw WrongArguments(reason: "--\(name) is no number") }
        return number
    }
}
