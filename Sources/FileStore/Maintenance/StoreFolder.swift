// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
internal import JSON
import Store

/// The folder of a store, and `store.json` in it: `{"format":3,"salt":"<32 hexadecimal digits>"}`.
struct StoreFolder {
    /// The format that is written. Format 1 has no `hub/due`: a program that knows no other would leave what waits there, and
    /// an export of it would lack it. Format 2 has one namespace of hub registrations: a program that knows no other would
    /// not find those of the served hub.
    static let format = 3
    /// The formats that are read. Another one was written by another version, and guessing at it could destroy it.
    static let knownFormats = 1...format
    /// What `store.json` says.
    struct Settings {
        let format: Int
        /// Of the bucket hash.
        let salt: [UInt8]
    }
    /// `store.json` is far smaller; a larger file is not ours.
    private static let maximumSettingsBytes = 4_096

    /// The mode of a folder whose name may not be on the disk yet: 0700 and the sticky bit, which is taken away when it is.
    private static let unflushedMode: mode_t = 0o1700

    /// Absolute, or relative to the working directory.
    let path: String
    var calls = DiskCalls()

    /// - Returns: what `store.json` says, and whether only reading is possible.
    func open(readOnly: Bool) throws(StoreError) -> (settings: Settings, isReadOnly: Bool) {
        if !readOnly, mkdir(path, 0o700) == 0 { try flush(path + "/..") }
        try checkMode()
        let isReadOnly = readOnly || access(path, W_OK) != 0
        if let settings = try readSettings() {
            if !isReadOnly { try makeFixedFolders() }
            return (settings, isReadOnly)
        }
        guard !isReadOnly else { throw .readOnly }
        guard try !hasData() else { throw .damaged(detail: "store.json is missing beside data") }
        try createSettings()
        guard let settings = try readSettings() else { throw .damaged(detail: "store.json has vanished") }
        try makeFixedFolders()
        return (settings, false)
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
        return try readSettings() == nil
    }

    // MARK: store.json

    /// Nil when there is no `store.json`.
    func readSettings() throws(StoreError) -> Settings? {
        let descriptor = platform_open(path + "/store.json", O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw StoreError(errno, "open", "store.json", writing: false) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumSettingsBytes)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw StoreError(errno, "read", "store.json", writing: false) }
        return try Self.settings(in: Array(bytes.prefix(count)))
    }

    private static func settings(in settingsBytes: [UInt8]) throws(StoreError) -> Settings {
        let settings: JSONValue
        do {
            settings = try JSONValue(parsing: settingsBytes)
        } catch {
            throw .damaged(detail: "store.json: \(error)")
        }
        guard let format = settings["format"]?.integer else { throw .damaged(detail: "store.json: no \"format\"") }
        guard knownFormats.contains(format) else { throw unknown(format) }
        guard let digits = settings["salt"]?.string, let salt = bytes(hex: digits), salt.count == 16 else {
            throw .damaged(detail: "store.json: \"salt\" is not 32 hexadecimal digits")
        }
        return Settings(format: format, salt: salt)
    }

    private static func unknown(_ format: Int) -> StoreError {
        .damaged(
            detail:
                "store.json: format \(format) is that of another version of this program; this one knows formats 1 to "
                + "\(Self.format). Run the version that wrote it, and move the site to this one by its export and an import"
        )
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
        let temporary = path + "/store.json.\(getpid()).\(UInt32.random(in: 0 ... .max, using: &random)).tmp"
        let descriptor = platform_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno, "create", "store.json", writing: true) }
        defer {
            close(descriptor)
            unlink(temporary)
        }
        let bytes = Self.settings(salt: salt)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0,
            link(temporary, path + "/store.json") == 0 || errno == EEXIST
        else { throw StoreError(errno, "create", "store.json", writing: true) }
        try flush(path)
    }

    /// - Parameter salt: 32 hexadecimal digits.
    private static func settings(salt: String) -> [UInt8] {
        let json = JSONWriter.object {
            $0.member("format", format)
            $0.member("salt", salt)
        }
        return json.bytes + [0x0A]
    }

    /// Says in `store.json` that the store has this version's format, in place of an older one. A crash leaves the old file
    /// or the new one. Under a lock, so that one process does it.
    func writeFormat(_ context: StoreContext, of settings: Settings) throws(StoreError) {
        let temporary = "store.json.tmp"
        let file = try OpenFile.open(context, temporary, O_WRONLY | O_CREAT | O_TRUNC)
        try file.write(Self.settings(salt: settings.salt.map(Self.hex).joined()))
        try context.flush(file)
        guard rename(path + "/" + temporary, path + "/store.json") == 0 else {
            throw StoreError(errno, "rename", temporary, writing: true)
        }
        try context.flushFolder(".")
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    // MARK: Folders

    /// Makes the folders and those above them, relative to the store's, durably. Also where they are there already, as
    /// far as they have not been flushed: another process may have made them, and not have come to that yet.
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

    /// This process has written no record yet, so a failed flush need not poison anything: the store does not open.
    private func flush(_ folder: String) throws(StoreError) {
        let descriptor = platform_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw StoreError(errno, "open", folder, writing: false) }
        defer { close(descriptor) }
        guard calls.flushFolder(descriptor) == 0 else { throw StoreError(errno, "fsync", folder, writing: true) }
    }

    /// Writes a block to a file that has no name by then, and lets it go.
    func probe(_ context: StoreContext) throws(StoreError) {
        let name = "lock/probe.\(getpid()).\(UInt32.random(in: 0 ... .max))"
        let file = try OpenFile.open(context, name, O_WRONLY | O_CREAT | O_EXCL)
        unlink(path + "/" + name)
        try file.write([UInt8](repeating: 0, count: 4_096))
    }
}
