// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
package import Text

extension FileSiteStore {
    package func createAppToken(_ token: AppToken, now: Timestamp) throws(StoreError) {
        let allowed = context.options.quotas.appTokensPerOwner
        _ = try tokenTable.put(AppTokenRecord(token)) { (entry, bucket) throws(StoreError) in
            let listed = IndexedTable<AppTokenRecord>.ids(entry.key, in: try bucket.content(), tokenIndex)
            guard listed.count >= allowed else { return }
            // Postings may be stale, so those that are right are counted before a request is refused.
            guard try appTokens(owner: entry.key, now: now).count < allowed else { throw .quotaExceeded }
        }
    }

    /// Costs two `stat` where the file has not changed since the token was last asked for.
    package func appToken(_ id: String, now: Timestamp) throws(StoreError) -> AppToken? {
        if let known = tokenCache.record(id), known.id.hasSameBytes(as: id) {
            return known.isExpired(now) ? nil : known
        }
        let asked = FileIdentity.clock
        guard let content = try tokenTable.records.read(id),
            let found = tokenTable.record(id, in: content)?.token
        else { return nil }
        tokenCache.remember(found, as: id, bytes: found.textBytes, of: content, in: context, asked: asked)
        return found.isExpired(now) ? nil : found
    }

    package func appTokens(owner: String, now: Timestamp) throws(StoreError) -> [AppToken] {
        try tokenTable.records(owner, tokenIndex).map(\.token).filter { !$0.isExpired(now) }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    package func noteUse(ofAppToken id: String, at time: Timestamp) throws(StoreError) {
        let records = tokenTable.records
        try records.write(id, durably: false) { (bucket) throws(StoreError) in
            let line = records.current(id, in: try bucket.content())
            guard var current = line.flatMap({ AppTokenRecord(line: $0) }) else { return }
            current.token.lastUsedAt = time
            try bucket.append(LineCodec.encode(current, keepingUnknownOf: line))
        }
    }

    package func removeAppToken(_ id: String, owner: String) throws(StoreError) -> Bool {
        guard try tokenTable.record(id)?.token.owner.hasSameBytes(as: owner) == true else { return false }
        return try tokenTable.remove(id, version: nil)
    }

    package func removeAppTokens(owner: String) throws(StoreError) -> Int {
        var count = 0
        for record in try tokenTable.records(owner, tokenIndex) where try tokenTable.remove(record.id, version: nil) {
            count += 1
        }
        return count
    }
}

extension AppToken {
    /// How long all of its texts are.
    fileprivate var textBytes: Int {
        (scopes + (recipients ?? [])).reduce(id.utf8.count + hash.utf8.count + owner.utf8.count + label.utf8.count) {
            $0 + $1.utf8.count + 16
        }
    }
}

extension AppTokenRecord: IndexedRecord {}
