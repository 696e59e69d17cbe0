// SPDX-License-Identifier: Apache-2.0
internal import JSON

extension FileStore {
    package func rememberSent(
        _ ids: [String], owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) {
        guard !ids.isEmpty else { return }
        try sentTable.write(owner, now: now, durably: false) { (bucket) throws(StoreError) in
            let oldestFirst = sentTable.listedIDs(owner, in: try bucket.content())
            let excess = oldestFirst.count + ids.count - context.options.caps.sentPerOwner
            var lines: [UInt8] = []
            for id in oldestFirst.prefix(max(0, excess)) { lines += LineCodec.removal(of: id, owner: owner) }
            for id in ids {
                let record = SentNotification(id: id, owner: owner, expiresAt: expiresAt)
                lines += LineCodec.encode { record.write(to: &$0) }
            }
            try bucket.append(lines)
        }
    }

    package func hasSent(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        var found: SentNotification?
        sentTable.forEachLastLine(try sentTable.read(owner), key: owner, id: .string(id)) { line in
            if line.op == nil { found = SentNotification(line: line.value) } else if line.op == deleteOp { found = nil }
        }
        return found.map { $0.expiresAt > now } ?? false
    }
}

extension BucketTable {
    /// The ids that stand under that key, expired ones too, in the order in which they were written.
    fileprivate func listedIDs(_ key: String, in content: BucketContent) -> [String] {
        var places: [String: Int] = [:]
        var next = 0
        forEachID(content, key: key) { id, op in
            if op == nil { places[id] = next } else if op == deleteOp { places[id] = nil }
            next += 1
        }
        return places.sorted { $0.value < $1.value }.map(\.key)
    }
}

extension SentNotification: LineRecord {
    static let members: Set = ["id", "owner", "expiresAt"]

    init?(line: JSONValue) {
        guard let id = line["id"]?.string, let owner = line["owner"]?.string,
            let expiresAt = line.time("expiresAt")
        else { return nil }
        self.init(id: id, owner: owner, expiresAt: expiresAt)
    }

    func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("owner", owner)
        json.member("expiresAt", expiresAt.text)
    }
}
