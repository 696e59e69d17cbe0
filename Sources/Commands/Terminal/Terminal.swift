// SPDX-License-Identifier: Apache-2.0
import FileStore
import Glibc
import Server
import Store
import Text

/// Why a command could not do what it was asked: printed without a usage line, exit status 1.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Standard input, output and error.
enum Terminal {
    /// The longest line that is read, in bytes.
    static let maximumLineBytes = 4096

    /// Whether a person reads what is printed, and no script.
    static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Prints a line on standard error; under systemd (`ExecReload=`) as a warning, which is where an operator looks.
    static func printError(_ line: String) {
        write((StderrLogHandler.isStandardErrorTheJournal ? "<4>" : "") + line + "\n", to: STDERR_FILENO)
    }

    /// Reads a password: from a terminal without showing it, twice where it is a new one; else the first line of
    /// standard input.
    /// - Returns: nil, when there is none, or when the two differ.
    /// - Throws: `CommandError`, when it is not UTF-8.
    static func readPassword(isNew: Bool) throws(CommandError) -> String? {
        guard isatty(STDIN_FILENO) == 1 else { return try text("The password", of: readLine()) }
        guard let first = try prompt("Password: ") else { return nil }
        guard isNew else { return first }
        guard try prompt("Once more: ") == first else {
            printError("The two passwords differ.")
            return nil
        }
        return first
    }

    /// Asks a person for a line, which is shown as it is typed.
    /// - Parameter option: what says the same.
    /// - Throws: `CommandError`, where standard input is no terminal, or the line is empty.
    static func ask(_ question: String, orGive option: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { throw CommandError("\(option) is missing.") }
        write(question, to: STDERR_FILENO)
        guard let line = try text("The answer", of: readLine()) else { throw CommandError("\(option) is missing.") }
        return line
    }

    /// Asks a person for y or n.
    /// - Throws: as `ask(_:orGive:)`, and for any other answer.
    static func confirm(_ question: String, orGive option: String) throws -> Bool {
        switch try ask("\(question) (y or n)? ", orGive: option).lowercased() {
        case "y", "yes": return true
        case "n", "no": return false
        default: throw CommandError("The answer must be y or n.")
        }
    }

    private static func prompt(_ question: String) throws(CommandError) -> String? {
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else { return nil }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        // Only now: what a quick person types behind the question is neither shown nor lost.
        write(question, to: STDERR_FILENO)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
            write("\n", to: STDERR_FILENO)
        }
        return try text("The password", of: readLine())
    }

    /// A line as text, without a byte order mark; nil, when it is empty.
    /// - Parameter name: what the line is to a reader.
    /// - Throws: `CommandError`, when it is not UTF-8, as in a terminal of another character set.
    static func text(_ name: String, of line: [UInt8]) throws(CommandError) -> String? {
        guard let text = String(validating: line.withoutByteOrderMark, as: UTF8.self) else {
            throw CommandError("\(name) is not UTF-8: use a terminal, or a file, in that character set.")
        }
        return text.isEmpty ? nil : text
    }

    /// One line of standard input, byte by byte so that nothing behind it is taken.
    private static func readLine() -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < maximumLineBytes, read(STDIN_FILENO, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
            bytes.append(byte)
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

extension Terminal {
    /// Prints an event of the store that needs the operator's attention; a command does not report routine maintenance.
    static func printError(of event: StoreEvent) {
        switch event.weight {
        case .detail, .note: return
        case .trouble, .failure: printError("store: \(event)")
        }
    }
}

extension Terminal {
    /// Whether root has started the command, which may have become the store's owner since. To be read first before that.
    static let isRoots = geteuid() == 0

    /// What to do about a refusal of the system's.
    /// - Returns: nil, where root was refused it, or it is no refusal; the service is not to be run by root.
    static func hint(ofErrorCode code: Int32) -> String? {
        guard !isRoots, !StderrLogHandler.isStandardErrorTheJournal, [EACCES, EPERM].contains(code) else { return nil }
        return "Only root and the store's owner may do this: `sudo app-backend …`"
    }

    /// As `hint(ofErrorCode:)`, for an error that has ended in the system's words.
    static func hint(of error: String) -> String? {
        [EACCES, EPERM].first { error.contains(String(cString: strerror($0))) }.flatMap(hint(ofErrorCode:))
    }
}
