// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
package import Text

extension FileSiteStore {
    package func createAppToken(_ token: AppToken, now: Timestamp) throws(StoreError) {
        let allowed = context.options.quotas.appTokensPerOwner
        _ = try tokenTable.put(Versioned(token), atMost: allowed) { !$0.record.isExpired(now) }
    }

    package func appToken(_ id: String, now: Timestamp) throws(StoreError) -> AppToken? {
        guard let found = try tokenTable.record(id)?.record else { return nil }
        return found.isExpired(now) ? nil : found
    }

    package func appTokens(owner: String, now: Timestamp) throws(StoreError) -> [AppToken] {
        try tokenTable.records(owner, tokenIndex).map(\.record).filter { !$0.isExpired(now) }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    package func noteUse(ofAppToken id: String, at time: Timestamp) throws(StoreError) {
        try changeAppToken(id, durably: false) { $0.lastUsedAt = time }
    }

    package func bindRecipients(ofAppToken id: String, to owners: [String]) throws(StoreError) {
        try changeAppToken(id, durably: true) { token in
            if token.recipientOwners.isEmpty { token.recipientOwners = owners }
        }
    }

    /// Changes the token of that id, if it is there.
    private func changeAppToken(
        _ id: String, durably: Bool, _ change: (inout AppToken) -> Void
    ) throws(StoreError) {
        let records = tokenTable.records
        try records.write(id, durably: durably) { (bucket) throws(StoreError) in
            let line = records.current(id, in: try bucket.content())
            guard var current = line.flatMap({ Versioned<AppToken>(line: $0) }) else { return }
            change(&current.record)
            try bucket.append(LineCodec.encode(current, keepingUnknownOf: line))
        }
    }

    package func removeAppToken(_ id: String, owner: String) throws(StoreError) -> Bool {
        guard try tokenTable.record(id)?.record.owner.hasSameBytes(as: owner) == true else { return false }
        return try tokenTable.remove(id, version: nil)
    }

    package func removeAppTokens(owner: String, before epoch: Int) throws(StoreError) -> Int {
        var count = 0
        for record in try tokenTable.records(owner, tokenIndex) where record.record.epoch < epoch {
            if try tokenTable.remove(record.id, version: nil) { count += 1 }
        }
        return count
    }
}
