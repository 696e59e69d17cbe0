// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import Store

/// The administrator's editor, and the file that he edits: in a folder of its own that nobody else may enter.
struct Editor {
    /// Nobody has typed a larger text.
    private static let maximumBytes = 64 << 20

    private let folder: String
    /// The file.
    let path: String

    /// - Throws: `Complaint`.
    init(_ text: [UInt8], name: String) throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/app-backend-edit-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Self.complaint("A folder for the text cannot be made in \(parent)")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = "\(folder)/\(name)"
        let descriptor = platform_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.complaint("A file for the text cannot be made in \(folder)") }
        defer { close(descriptor) }
        var output = PieceWriter(descriptor, name: path)
        try output.add(text)
        try output.flush()
    }

    /// Removes the text and whatever the editor has left beside it.
    func remove() {
        for name in FolderNames.list(folder) { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    /// What the file holds now.
    /// - Throws: `Complaint`.
    func text() throws -> [UInt8] {
        let descriptor = platform_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Self.complaint("\(path) cannot be read") }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while text.count <= Self.maximumBytes {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.complaint("\(path) cannot be read") }
            guard count > 0 else { return text }
            text += piece[..<count]
        }
        throw Complaint("\(path) cannot be read: it is larger than \(Self.maximumBytes) bytes")
    }

    /// Runs the editor to its end: `$VISUAL`, `$EDITOR`, `editor`, `vi`, the first there is. It may have arguments, as a
    /// shell reads them.
    /// - Throws: `Complaint`, when it says by its exit status that it failed.
    func run() throws {
        let command = Self.variable("VISUAL") ?? Self.variable("EDITOR") ?? Self.fallback
        // ^C is the editor's, and must not end us with it.
        let handlers = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in handlers { signal(number, handler) } }
        guard try status(of: command) == 0 else { throw Complaint("The editor has failed: \(command)") }
    }

    /// Debian's name for whichever editor was chosen there.
    private static var fallback: String { access("/usr/bin/editor", X_OK) == 0 ? "editor" : "vi" }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// - Returns: what waitpid(2) says.
    private func status(of command: String) throws -> Int32 {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in [SIGINT, SIGQUIT] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        // The shell waits for the editor, and would die of its ^C afterwards.
        let words: [String] = ["/bin/sh", "-c", "trap : INT QUIT; " + command + " \"$@\"", command, path]
        var arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var child = pid_t()
        let code = posix_spawn(&child, "/bin/sh", nil, &attributes, &arguments, platform_environment())
        guard code == 0 else { throw Complaint("The editor cannot be started: \(String(cString: strerror(code)))") }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw Self.complaint("The editor cannot be waited for") }
        }
        return status
    }

    private static func complaint(_ what: String) -> Complaint {
        Complaint("\(what): \(String(cString: strerror(errno)))")
    }
}
