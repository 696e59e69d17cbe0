// SPDX-License-Identifier: Apache-2.0
internal import JSON
package import Text

extension FileStore {
    /// The lock of the owner's bucket decides between those who come at once.
    package func claimIdempotencyKey(
        _ request: IdempotentRequest, now: Timestamp
    ) throws(StoreError) -> IdempotentRequest? {
        try idempotencyTable.write(request.owner, now: now) { (bucket) throws(StoreError) -> IdempotentRequest? in
            let content = try bucket.content()
            if let line = idempotencyTable.lastLine(request.key, owner: request.owner, in: content),
                let holder = IdempotentRequest(line: line), holder.expiresAt > now
            {
                return holder
            }
            guard hasRoom(for: request.owner, in: content, now) else { throw .quotaExceeded }
            try bucket.append(LineCodec.encode { request.write(to: &$0) })
            return nil
        }
    }

    /// To count costs little, so only of an owner who has many all is read.
    private func hasRoom(for owner: String, in content: BucketContent, _ now: Timestamp) -> Bool {
        let allowed = context.options.caps.idempotencyKeysPerOwner
        guard idempotencyTable.countIDs(content, key: owner) >= allowed else { return true }
        let requests = idempotencyTable.idempotentRequests(of: owner, in: content)
        return requests.count { $0.answer == nil && $0.expiresAt > now } < allowed
    }

    package func keepAnswer(of request: IdempotentRequest) throws(StoreError) {
        try idempotencyTable.write(request.owner) { (bucket) throws(StoreError) in
            let content = try bucket.content()
            let claim = idempotencyTable.lastLine(request.key, owner: request.owner, in: content)
            let count = idempotencyTable.countIDs(content, key: request.owner) + (claim == nil ? 1 : 0)
            let forgotten = excess(of: count, for: request, in: content)
            let removals = forgotten.flatMap { LineCodec.removal(of: .string($0), owner: request.owner) }
            try bucket.append(removals + LineCodec.encode(request, keepingUnknownOf: claim))
        }
    }

    /// The keys that make room for this answer: as many as there are too many, and an eighth more, so that who sends all
    /// day does not have all his keys read for each of them.
    private func excess(of count: Int, for request: IdempotentRequest, in content: BucketContent) -> [String] {
        let allowed = context.options.caps.idempotencyKeysPerOwner
        guard count > allowed else { return [] }
        let answered = idempotencyTable.idempotentRequests(of: request.owner, in: content)
            .filter { $0.answer != nil && $0.key != request.key }
        let oldestFirst = answered.sorted { ($0.createdAt, $0.key) < ($1.createdAt, $1.key) }
        return oldestFirst.prefix(count - allowed + allowed / 8).map(\.key)
    }

    package func releaseIdempotencyKey(_ key: String, owner: String) throws(StoreError) {
        try idempotencyTable.write(owner) { (bucket) throws(StoreError) in
            guard idempotencyTable.lastLine(key, owner: owner, in: try bucket.content()) != nil else { return }
            try bucket.append(LineCodec.removal(of: .string(key), owner: owner))
        }
    }
}

extension BucketTable {
    /// The line of the owner's record of that id; nil when there is none, or was removed.
    fileprivate func lastLine(_ id: String, owner: String, in content: BucketContent) -> JSONValue? {
        var found: JSONValue?
        forEachLastLine(content, key: owner, id: .string(id)) { line in
            if line.op == nil { found = line.value } else if line.op == deleteOp { found = nil }
        }
        return found
    }

    /// Expired ones too, in no order of meaning.
    fileprivate func idempotentRequests(of owner: String, in content: BucketContent) -> [IdempotentRequest] {
        var found: [IdempotentRequest] = []
        forEachLatestLine(content, key: owner, where: { _ in true }) { line, _ in
            if let request = IdempotentRequest(line: line.value) { found.append(request) }
        }
        return found
    }
}

/// Without an answer the members `status`, `contentType` and `body` are missing.
extension IdempotentRequest: LineRecord {
    static let members: Set = [
        "id", "owner", "fingerprint", "createdAt", "expiresAt", "status", "contentType", "body",
    ]

    init?(line: JSONValue) {
        guard let key = line["id"]?.string, let owner = line["owner"]?.string,
            let fingerprint = line["fingerprint"]?.string, let createdAt = line.time("createdAt"),
            let expiresAt = line.time("expiresAt")
        else { return nil }
        self.init(
            owner: owner, key: key, fingerprint: fingerprint, createdAt: createdAt, expiresAt: expiresAt)
        guard line["status"] != nil else { return }
        guard let answer = KeptAnswer(line: line) else { return nil }
        self.answer = answer
    }

    func write(to json: inout JSONWriter) {
        json.member("id", key)
        json.member("owner", owner)
        json.member("fingerprint", fingerprint)
        json.member("createdAt", createdAt.text)
        json.member("expiresAt", expiresAt.text)
        guard let answer else { return }
        json.member("status", answer.status)
        json.member("contentType", answer.contentType)
        json.member("body", answer.body)
    }
}

extension KeptAnswer {
    /// Nil also for a status that HTTP does not have: somebody may have edited it.
    fileprivate init?(line: JSONValue) {
        guard let status = line["status"]?.integer, Self.statuses.contains(status),
            let contentType = line["contentType"]?.string, let body = line["body"]?.string
        else { return nil }
        self.init(status: status, contentType: contentType, body: body)
    }
}
