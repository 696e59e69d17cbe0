// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import System

/// A file of lines that is read more than once, a piece at a time. What comes through a pipe is kept in a file without a
/// name first.
final class LineReader {
    /// The longest line of an export, in bytes.
    static let maximumLineBytes = 16 << 20
    private static let pieceBytes = 256 << 10

    struct Line {
        /// Without the line feed.
        let bytes: UnsafeBufferPointer<UInt8>
        /// From 1, as editors count.
        let number: Int
        /// Whether a line feed ends it; false only for the last one.
        let isEnded: Bool
    }

    private let descriptor: Int32
    private let name: String

    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - example: a command that names a file, for a person who has named none.
    /// - Throws: `CommandError`.
    init(_ path: String, example: String = "app-backend store import site.jsonl") throws {
        name = path == "-" ? "standard input" : path
        guard path != "-" || isatty(STDIN_FILENO) == 0 else {
            throw CommandError("An import needs a file: \(example)")
        }
        let opened = path == "-" ? dup(STDIN_FILENO) : platform_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard opened >= 0 else { throw Self.commandError("\(name) cannot be read") }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT != S_IFREG else {
            descriptor = opened
            return
        }
        defer { close(opened) }
        descriptor = try Self.keep(opened, name)
    }

    deinit {
        close(descriptor)
    }

    /// Calls `body` with piece after piece of the file, from the beginning.
    /// - Throws: `CommandError`; what `body` throws.
    func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        var offset = 0
        while true {
            let piece = try Self.read(descriptor, at: offset, name)
            offset += piece.count
            guard !piece.isEmpty else { return }
            try body(piece)
        }
    }

    /// The beginning of the file.
    /// - Throws: `CommandError`.
    func firstPiece() throws -> [UInt8] { try Self.read(descriptor, at: 0, name) }

    /// Calls `body` with every line, from the beginning.
    /// - Throws: `CommandError`; what `body` throws.
    func forEachLine(_ body: (Line) throws -> Void) throws {
        var (rest, number) = ([UInt8](), 1)
        try forEachPiece { piece in
            rest += piece
            let taken = try lend(rest, &number, body)
            rest.removeFirst(taken)
            guard rest.count <= Self.maximumLineBytes else {
                throw CommandError("\(name):\(number): longer than \(Self.maximumLineBytes) bytes")
            }
        }
        guard !rest.isEmpty else { return }
        try rest.withUnsafeBufferPointer { try body(Line(bytes: $0, number: number, isEnded: false)) }
    }

    /// - Returns: how many bytes were whole lines.
    private func lend(_ bytes: [UInt8], _ number: inout Int, _ body: (Line) throws -> Void) throws -> Int {
        try bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            while let end = bytes[start...].firstIndex(of: 0x0A) {
                let line = UnsafeBufferPointer(rebasing: bytes[start..<end])
                try body(Line(bytes: line, number: number, isEnded: true))
                start = end + 1
                number += 1
            }
            return start
        }
    }

    /// Copies a pipe into a file that is gone with this process, where large files may lie.
    private static func keep(_ pipe: Int32, _ name: String) throws -> Int32 {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        var template = Array("\(folder)/app-backend-import-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else { throw commandError("\(name) cannot be kept in \(folder)") }
        unlink(template)
        do {
            var output = BufferedWriter(file, name: "\(name), kept in \(folder)")
            while true {
                let piece = try read(pipe, at: nil, name)
                guard !piece.isEmpty else { break }
                try output.add(piece)
            }
            try output.flush()
            return file
        } catch {
            close(file)
            throw error
        }
    }

    /// - Parameter offset: nil reads on, as from a pipe.
    /// - Returns: nothing at the end.
    private static func read(_ descriptor: Int32, at offset: Int?, _ name: String) throws -> [UInt8] {
        while true {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: pieceBytes) { buffer, filled in
                let got =
                    offset.map { pread(descriptor, buffer.baseAddress, buffer.count, off_t($0)) }
                    ?? Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if got < 0 { failure = errno }
                filled = max(0, got)
            }
            if failure == EINTR { continue }
            errno = failure
            guard failure == 0 else { throw commandError("\(name) cannot be read") }
            return bytes
        }
    }

    private static func commandError(_ what: String) -> CommandError {
        CommandError("\(what): \(systemErrorText())")
    }
}
