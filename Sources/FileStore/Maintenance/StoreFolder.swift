// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
internal import JSON
import Store

/// The folder of a store, and `store.json` in it: `{"format":1,"salt":"<32 hexadecimal digits>"}`.
struct StoreFolder {
    /// The only format there is. Another one was written by another version, and guessing at it could destroy it.
    static let format = 1
    /// `store.json` is far smaller; a larger file is none of ours.
    private static let maximumSettingsBytes = 4_096

    /// The mode of a folder whose name may not be on the disk yet: 0700 and the sticky bit, which is taken away when it is.
    private static let unflushedMode: mode_t = 0o1700

    /// Absolute, or relative to the working directory.
    let path: String
    var calls = DiskCalls()

    /// - Returns: the salt of the bucket hash, and whether only reading is possible.
    func open(readOnly: Bool) throws(StoreError) -> (salt: [UInt8], isReadOnly: Bool) {
        if !readOnly, mkdir(path, 0o700) == 0 { try flush(path + "/..") }
        try checkMode()
        let isReadOnly = readOnly || access(path, W_OK) != 0
        if let salt = try readSalt() {
            if !isReadOnly { try makeFixedFolders() }
            return (salt, isReadOnly)
        }
        guard !isReadOnly else { throw .readOnly }
        guard try !hasData() else { throw .damaged(detail: "store.json is missing beside data") }
        try createSettings()
        guard let salt = try readSalt() else { throw .damaged(detail: "store.json has vanished") }
        try makeFixedFolders()
        return (salt, false)
    }

    private func makeFixedFolders() throws(StoreError) {
        try makeFolders(["lock", "quarantine"])
    }

    private func checkMode() throws(StoreError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw StoreError(errno, "stat", path, writing: false) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .damaged(detail: "\(path) is not a folder") }
        guard status.st_mode & 0o007 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw .damaged(detail: "\(path) has mode \(mode), so everybody may enter it; it should be 700")
        }
    }

    /// Whether there are tables. Another process may just have made both, so `store.json` is looked for once more.
    private func hasData() throws(StoreError) -> Bool {
        guard access(path + "/notifications", F_OK) == 0 || access(path + "/users.jsonl", F_OK) == 0 else {
            return false
        }
        return try readSalt() == nil
    }

    // MARK: store.json

    /// Nil when there is no `store.json`.
    private func readSalt() throws(StoreError) -> [UInt8]? {
        let descriptor = platform_open(path + "/store.json", O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw StoreError(errno, "open", "store.json", writing: false) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumSettingsBytes)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw StoreError(errno, "read", "store.json", writing: false) }
        return try Self.salt(of: Array(bytes.prefix(count)))
    }

    private static func salt(of settingsBytes: [UInt8]) throws(StoreError) -> [UInt8] {
        let settings: JSONValue
        do {
            settings = try JSONValue(parsing: settingsBytes)
        } catch {
            throw .damaged(detail: "store.json: \(error)")
        }
        guard let format = settings["format"]?.integer else { throw .damaged(detail: "store.json: no \"format\"") }
        guard format == Self.format else {
            throw .damaged(
                detail:
                    "store.json: format \(format) is that of another version of this program; this one knows format \(Self.format)"
            )
        }
        guard let digits = settings["salt"]?.string, let salt = bytes(hex: digits), salt.count == 16 else {
            throw .damaged(detail: "store.json: \"salt\" is not 32 hexadecimal digits")
        }
        return salt
    }

    private static func bytes(hex: String) -> [UInt8]? {
        let digits = hex.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    /// Written whole under a name of its own, then linked: of two processes that start at once one wins, and both
    /// read what the winner wrote.
    private func createSettings() throws(StoreError) {
        var random = SystemRandomNumberGenerator()
        let salt = (0..<4).map { _ in
            let digits = String(UInt32.random(in: 0 ... .max, using: &random), radix: 16)
            return String(repeating: "0", count: 8 - digits.utf8.count) + digits
        }.joined()
        var json = JSONWriter()
        json.object {
            $0.member("format", Self.format)
            $0.member("salt", salt)
        }
        let temporary = path + "/store.json.\(getpid()).\(UInt32.random(in: 0 ... .max, using: &random)).tmp"
        let descriptor = platform_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno, "create", "store.json", writing: true) }
        defer {
            close(descriptor)
            unlink(temporary)
        }
        let bytes = json.bytes + [0x0A]
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0,
            link(temporary, path + "/store.json") == 0 || errno == EEXIST
        else { throw StoreError(errno, "create", "store.json", writing: true) }
        try flush(path)
    }

    // MARK: Folders

    /// Makes the folders and those above them, relative to the store's, durably. Also where they are there already, as
    /// far as they have not been flushed: whoever made them may be another process that has not come to it yet.
    func makeFolders(_ names: [String]) throws(StoreError) {
        var unflushed: [String] = []
        var parents: [String] = []
        for name in names {
            var parent = path
            for component in name.split(separator: "/") {
                let folder = parent + "/" + component
                if !unflushed.contains(folder), try !makeFolder(folder, name) {
                    unflushed.append(folder)
                    if !parents.contains(parent) { parents.append(parent) }
                }
                parent = folder
            }
        }
        for parent in parents { try flush(parent) }
        // Where that is refused the next one flushes once more.
        for folder in unflushed { chmod(folder, 0o700) }
    }

    /// - Returns: whether its name is on the disk already.
    private func makeFolder(_ folder: String, _ name: String) throws(StoreError) -> Bool {
        if mkdir(folder, Self.unflushedMode) == 0 { return false }
        var status = stat()
        guard errno == EEXIST, stat(folder, &status) == 0 else { throw StoreError(errno, "mkdir", name, writing: true) }
        return status.st_mode & Self.unflushedMode != Self.unflushedMode
    }

    /// Nobody has written yet, so a failed flush need not poison anything: the store does not open.
    private func flush(_ folder: String) throws(StoreError) {
        let descriptor = platform_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw StoreError(errno, "open", folder, writing: false) }
        defer { close(descriptor) }
        guard calls.flushFolder(descriptor) == 0 else { throw StoreError(errno, "fsync", folder, writing: true) }
    }

    /// Writes a block to a file that has no name by then, and lets it go.
    func probe(_ context: StoreContext) throws(StoreError) {
        let name = "lock/probe.\(getpid()).\(UInt32.random(in: 0 ... .max))"
        let file = try Descriptor.open(context, name, O_WRONLY | O_CREAT | O_EXCL)
        unlink(path + "/" + name)
        try file.write([UInt8](repeating: 0, count: 4_096))
    }
}
