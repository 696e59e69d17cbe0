// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Synchronization

extension FileStore {
    /// Costs one or two `stat` where the file has not changed since it was last read.
    package func user(_ name: String) throws(StoreError) -> User? {
        try userCache.user(name, userTable)
    }

    package func users() throws(StoreError) -> [User] {
        var users: [[UInt8]: User] = [:]
        var position: UInt64? = 0
        while let hash = position {
            let bucket = try userTable.open(hash, O_RDONLY)
            if let file = bucket?.file {
                users.merge(try UserCache.users(BucketTable.content(of: file), userTable)) { _, new in new }
            }
            position = userTable.nextHash(hash, depth: bucket?.depth ?? userTable.depth(hash))
        }
        return users.values.sorted { $0.name < $1.name }
    }

    package func putUser(_ user: User) throws(StoreError) -> User {
        try userTable.write(user.name) { (bucket) throws(StoreError) -> User in
            let content = try bucket.content()
            let old = UserCache.user(user.name, in: content, userTable)
            guard user.version == old?.version ?? 0 else { throw .conflict }
            var new = user
            new.version = try userTable.nextVersion(of: user.name, after: old?.version, in: content)
            try bucket.append(LineCodec.encode { new.write(to: &$0) })
            return new
        }
    }

    package func removeUser(_ name: String) throws(StoreError) -> Bool {
        guard try user(name) != nil else { return false }
        return try userTable.write(name) { (bucket) throws(StoreError) -> Bool in
            guard let old = UserCache.user(name, in: try bucket.content(), userTable) else { return false }
            try bucket.append(LineCodec.removal(of: name, version: old.version))
            return true
        }
    }
}

extension User: LineRecord {
    init?(line: JSONValue) {
        guard let name = line["id"]?.string, let passwordHash = line["passwordHash"]?.string,
            let tags = line.texts("tags"), let sendTo = line.texts("sendTo"), let version = line.version
        else { return nil }
        self.init(name: name, passwordHash: passwordHash, tags: tags, sendTo: sendTo, version: version)
    }

    func write(to json: inout JSONWriter) {
        json.member("id", name)
        json.member("passwordHash", passwordHash)
        if let tags { json.member("tags", tags) }
        if let sendTo { json.member("sendTo", sendTo) }
        json.member("version", version)
    }
}

extension JSONWriter {
    mutating func member(_ name: String, _ texts: [String]) {
        self.name(name)
        array { json in texts.forEach { json.string($0) } }
    }
}

/// The users of files that have not changed since they were read: every request asks for one.
///
/// Nothing is believed that is not checked: a file that another process or an editor touched has another identity.
final class UserCache: Sendable {
    /// Files that are remembered; at the default size of a bucket they hold about 50,000 users.
    private static let maximumFiles = 64

    private struct Entry {
        let identity: FileIdentity
        let users: [[UInt8]: User]
    }

    private let entries = Mutex<[String: Entry]>([:])

    func user(_ name: String, _ table: BucketTable) throws(StoreError) -> User? {
        let hash = table.hash(of: name)
        let path = table.path(hash, depth: table.depth(hash)) + ".jsonl"
        var status = stat()
        if stat(table.context.path + "/" + path, &status) == 0 {
            let identity = FileIdentity(status)
            let entry = entries.withLock { $0[path] }
            if let entry, entry.identity == identity { return entry.users[Array(name.utf8)] }
        }
        guard let content = try table.read(name) else { return nil }
        let users = Self.users(content, table)
        entries.withLock { entries in
            if entries.count >= Self.maximumFiles { entries.removeAll() }
            entries[content.name] = Entry(identity: content.identity, users: users)
        }
        return users[Array(name.utf8)]
    }

    static func users(_ content: BucketContent, _ table: BucketTable) -> [[UInt8]: User] {
        var users: [[UInt8]: User] = [:]
        table.forEachLine(content) { apply($0, to: &users[Array($0.key.utf8)]) }
        return users
    }

    static func user(_ name: String, in content: BucketContent, _ table: BucketTable) -> User? {
        var user: User?
        table.forEachLastLine(content, key: name, id: nil) { apply($0, to: &user) }
        return user
    }

    private static func apply(_ line: Line, to user: inout User?) {
        switch line.op {
        case nil: user = User(line: line.value)
        case deleteOp: user = nil
        case _?: break
        }
    }
}
