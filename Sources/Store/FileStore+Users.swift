// SPDX-License-Identifier: Apache-2.0
internal import JSON

extension FileStore {
    /// Costs two `stat` where the file has not changed since the user was last asked for.
    package func user(_ name: String) throws(StoreError) -> User? {
        // Two names may be equal that only look alike.
        if let known = userCache.record(name), known.name.hasSameBytes(as: name) { return known }
        let asked = FileIdentity.clock
        guard let content = try userTable.read(name), let user = user(name, in: content) else { return nil }
        userCache.remember(user, as: name, bytes: user.textBytes, of: content, in: context, asked: asked)
        return user
    }

    package func users() throws(StoreError) -> [User] {
        var users: [[UInt8]: User] = [:]
        try userTable.forEachFile { (content, _) in users.merge(usersByName(in: content)) { _, new in new } }
        return users.values.sorted { $0.name < $1.name }
    }

    package func putUser(_ user: User) throws(StoreError) -> User {
        try userTable.write(user.name) { (bucket) throws(StoreError) -> User in
            let content = try bucket.content()
            let oldLine = userTable.lastLine(user.name, in: content)
            let old = oldLine.flatMap { User(line: $0) }
            guard user.version == old?.version ?? 0, user.version < .max - 1 else { throw .conflict }
            var new = user
            new.version = try userTable.nextVersion(of: user.name, after: old?.version, in: content)
            try bucket.append(LineCodec.encode(new, keepingUnknownOf: oldLine))
            return new
        }
    }

    package func removeUser(_ name: String) throws(StoreError) -> Bool {
        guard try user(name) != nil else { return false }
        return try userTable.write(name) { (bucket) throws(StoreError) -> Bool in
            guard let old = self.user(name, in: try bucket.content()) else { return false }
            try bucket.append(LineCodec.removal(of: name, version: old.version))
            return true
        }
    }

    private func usersByName(in content: BucketContent) -> [[UInt8]: User] {
        var users: [[UInt8]: User] = [:]
        userTable.forEachLine(content) { Self.apply($0, to: &users[Array($0.key.utf8)]) }
        return users
    }

    private func user(_ name: String, in content: BucketContent) -> User? {
        userTable.lastLine(name, in: content).flatMap { User(line: $0) }
    }

    private static func apply(_ line: Line, to user: inout User?) {
        switch line.op {
        case nil: user = User(line: line.value)
        case deleteOp: user = nil
        case _?: break
        }
    }
}

extension User {
    /// How long all of its texts are.
    fileprivate var textBytes: Int {
        ((tags ?? []) + (sendTo ?? [])).reduce(name.utf8.count + passwordHash.utf8.count) { $0 + $1.utf8.count + 16 }
    }
}

extension User: LineRecord {
    static let members: Set = ["id", "passwordHash", "tags", "sendTo", "version"]

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
