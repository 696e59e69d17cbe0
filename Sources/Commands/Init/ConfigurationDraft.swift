// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import JSON
import System

/// A configuration file that a command writes; what a person has written in it stays as it is.
struct ConfigurationDraft: Equatable {
    private(set) var bytes: [UInt8]

    /// - Parameter store: the folder of the store.
    init(store: String) {
        let text = """
            {
              "store": { "path": "\(store)" },
              "secure": { "form": "alert" },
              "inbox": { "plainDays": 7 }
            }

            """
        bytes = Array(text.utf8)
    }

    /// - Returns: nil for what is no JSON object.
    init?(_ bytes: [UInt8]) {
        guard (try? JSONValue(parsing: bytes))?.members != nil else { return nil }
        self.bytes = bytes
    }

    /// Adds a member before all others.
    /// - Parameter json: its value.
    /// - Returns: false, and nothing is changed, where there is a member of that name, or one such as `name.key`.
    mutating func add(_ name: String, _ json: String) -> Bool {
        guard let members = (try? JSONValue(parsing: bytes))?.members,
            let start = bytes.firstIndex(of: UInt8(ascii: "{")),
            !members.contains(where: { $0.name == name || $0.name.hasPrefix(name + ".") })
        else { return false }
        bytes.insert(
            contentsOf: "\n  \"\(name)\": \(json)\(members.isEmpty ? "\n" : ",")".utf8, at: bytes.index(after: start))
        return true
    }

    /// Puts it in the place of the file, whole or not at all, with the owner and the mode that the file has; a new file is for
    /// its owner and group, and one of root's for everybody: the service runs as another user, and a draft has no secret.
    /// - Parameter path: a link is followed.
    /// - Throws: `CommandError`.
    static func write(_ draft: ConfigurationDraft, to path: String) throws {
        let real = realpath(path, nil)
        defer { free(real) }
        let target = real.map { String(cString: $0) } ?? path
        let temporary = "\(target).\(getpid()).new"
        let descriptor = platform_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var status = stat()
        let isThere = stat(target, &status) == 0
        guard
            isThere
                ? fchown(descriptor, status.st_uid, status.st_gid) == 0 && fchmod(descriptor, status.st_mode) == 0
                : geteuid() != 0 || fchmod(descriptor, 0o644) == 0,
            Glibc.write(descriptor, draft.bytes, draft.bytes.count) == draft.bytes.count, fsync(descriptor) == 0,
            rename(temporary, target) == 0, flushFolder(of: target)
        else {
            let failure = failure(path)
            unlink(temporary)
            throw failure
        }
    }

    /// Without that the name may be gone after a loss of power, and the file with it.
    private static func flushFolder(of path: String) -> Bool {
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = platform_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    /// What `errno` says, and what to do instead.
    static func failure(_ path: String) -> CommandError {
        let (code, reason) = (errno, systemErrorText())
        let isReadOnly = code == EROFS || access("/run/.containerenv", F_OK) == 0 || access("/.dockerenv", F_OK) == 0
        let instead = isReadOnly ? ". \(inContainer)" : Terminal.hint(ofErrorCode: code).map { ". \($0)" } ?? ""
        return CommandError("\(path) cannot be written: \(reason)\(instead)")
    }

    private static let inContainer = """
        Where the file may not change, as in a container, give the same by variables: \
        APP_BACKEND_WEB_PUSH_SUBJECT=mailto:you@example.com, and for /admin \
        APP_BACKEND_ROLES_NAME=administrator and APP_BACKEND_ROLES_ADMINISTER=true. \
        Start the container with them, and run this command in it again.
        """
}
