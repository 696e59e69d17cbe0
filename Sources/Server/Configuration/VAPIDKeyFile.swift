// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import System
import Text
package import WebPush

/// The file of the key that browsers know this site by: one line, the private key in base64url. Another file beside it, with
/// `.former` behind its name, keeps the keys from before rotations, the latest first: a browser takes messages by the key that
/// it subscribed with.
package struct VAPIDKeyFile {
    /// Its name in the store's folder, where no other file is named.
    static let defaultName = "vapid.key"
    /// Of the file that keeps former keys.
    package static let formerSuffix = ".former"
    /// So many former keys are kept: each is tried for a subscription that the current one does not fit.
    package static let maximumFormerKeys = 4
    /// A larger file holds something else, in bytes.
    private static let maximumBytes = 256
    /// What is wrong with it, as the sentence goes on after its name; never what it holds.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    package let path: String

    /// Where former keys are kept.
    package var former: VAPIDKeyFile { VAPIDKeyFile(path: path + Self.formerSuffix) }

    /// - Returns: nil, when there is no such file.
    /// - Throws: `Failure`, when it cannot be read, is open to others, or holds no key.
    package func read() throws(Failure) -> VAPIDKey? {
        try lines().map { lines throws(Failure) in try Self.key(lines.first ?? "") }
    }

    /// Every key in it; none, when there is no such file.
    /// - Throws: as `read`.
    package func readAll() throws(Failure) -> [VAPIDKey] {
        var keys: [VAPIDKey] = []
        for line in (try lines() ?? []).prefix(Self.maximumFormerKeys) { keys.append(try Self.key(line)) }
        return keys
    }

    private static func key(_ line: String) throws(Failure) -> VAPIDKey {
        do throws(VAPIDKey.Malformed) {
            return try VAPIDKey(Secret(line))
        } catch {
            throw Failure(description: "holds no key, and is left as it is: \(error)")
        }
    }

    private func lines() throws(Failure) -> [String]? {
        let descriptor = platform_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("cannot be read")
        }
        defer { close(descriptor) }
        try checkMode(descriptor)
        var bytes = [UInt8](repeating: 0, count: Self.maximumBytes + 1)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw failure("cannot be read") }
        guard count <= Self.maximumBytes else { throw Failure(description: "is larger than a key") }
        let text = String(decoding: Array(bytes.prefix(count)).withoutByteOrderMark, as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).map(String.init)
    }

    private func checkMode(_ descriptor: Int32) throws(Failure) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("cannot be read") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(description: "is not a file") }
        guard status.st_mode & SecretFile.forbiddenMode == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw Failure(description: "has mode \(mode), so others may read or change the key; chmod 600")
        }
    }

    /// Writes a key, durably, as a file that only its owner may read. It appears whole or not at all, and never in the
    /// place of another: it is written under a name of its own and then linked (link(2)).
    /// - Parameter owner: whose the file is to be; nil: this process's.
    /// - Returns: false, when there is a file already.
    /// - Throws: `Failure`.
    package func create(_ key: VAPIDKey, owner: (user: UInt32, group: UInt32)? = nil) throws(Failure) -> Bool {
        let temporary = try writeBeside([key], owner: owner)
        defer { unlink(temporary) }
        if link(temporary, path) != 0 {
            if errno == EEXIST { return false }
            throw failure("cannot be made")
        }
        try flushFolder()
        return true
    }

    /// Replaces the key file atomically and durably.
    /// - Parameter owner: whose the file is to be; nil: this process's.
    /// - Throws: `Failure`.
    package func replace(_ keys: [VAPIDKey], owner: (user: UInt32, group: UInt32)? = nil) throws(Failure) {
        let temporary = try writeBeside(keys, owner: owner)
        guard rename(temporary, path) == 0 else {
            let failure = failure("cannot be made")
            unlink(temporary)
            throw failure
        }
        try flushFolder()
    }

    /// Deletes the file, durably.
    /// - Returns: false, when there is none.
    /// - Throws: `Failure`.
    package func remove() throws(Failure) -> Bool {
        guard unlink(path) == 0 else {
            if errno == ENOENT { return false }
            throw failure("cannot be deleted")
        }
        try flushFolder()
        return true
    }

    /// - Returns: the path of a new file in the same folder.
    private func writeBeside(_ keys: [VAPIDKey], owner: (user: UInt32, group: UInt32)?) throws(Failure) -> String {
        let temporary = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max)).tmp"
        let descriptor = platform_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be made") }
        defer { close(descriptor) }
        do throws(Failure) {
            if let owner, fchown(descriptor, owner.user, owner.group) != 0 {
                throw failure("cannot be given to its owner")
            }
            let bytes = keys.flatMap { Array(($0.secret.reveal() + "\n").utf8) }
            guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
                throw failure("cannot be written")
            }
        } catch {
            unlink(temporary)
            throw error
        }
        return temporary
    }

    /// The path of its folder.
    var folder: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Lets one process at a time change what is there.
    /// - Returns: a descriptor; who closes it ends that.
    /// - Throws: `Failure`.
    package func lockFolder() throws(Failure) -> Int32 {
        let descriptor = platform_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw failure("cannot be made") }
        guard flock(descriptor, LOCK_EX) == 0 else {
            close(descriptor)
            throw failure("cannot be made")
        }
        return descriptor
    }

    private func flushFolder() throws(Failure) {
        let descriptor = platform_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw failure("cannot be made durable") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot be made durable") }
    }

    private func failure(_ what: String) -> Failure {
        Failure(description: "\(what): \(systemErrorText())")
    }
}
