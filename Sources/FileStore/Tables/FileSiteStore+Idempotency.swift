// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
package import Text

extension FileSiteStore {
    /// The lock of the owner's bucket decides between those who come at once.
    package func claimIdempotencyKey(
        _ request: IdempotentRequest, now: Timestamp
    ) throws(StoreError) -> IdempotentRequest? {
        try idempotencyTable.write(request.owner, now: now) { (bucket) throws(StoreError) -> IdempotentRequest? in
            let records = CurrentRecords(
                try idempotencyTable.lines(of: request.owner, in: bucket.file), idempotencyTable, key: request.owner)
            if let holder = records.request(request), holder.expiresAt > now { return holder }
            guard hasRoom(in: records, now) else { throw .quotaExceeded }
            try bucket.append(LineCodec.encode { request.write(to: &$0) })
            return nil
        }
    }

    /// To count costs little, so only the keys of an owner who has many are parsed.
    private func hasRoom(in records: CurrentRecords, _ now: Timestamp) -> Bool {
        let allowed = context.options.quotas.idempotencyKeysPerOwner
        guard records.count >= allowed else { return true }
        let requests = records.decoded(as: IdempotentRequest.self)
        return requests.count { $0.answer == nil && $0.expiresAt > now } < allowed
    }

    package func keepAnswer(of request: IdempotentRequest) throws(StoreError) {
        try idempotencyTable.write(request.owner) { (bucket) throws(StoreError) in
            let records = CurrentRecords(
                try idempotencyTable.lines(of: request.owner, in: bucket.file), idempotencyTable, key: request.owner)
            let claim = records.record(id: .string(request.key), key: request.owner).flatMap { records.line(of: $0) }
            let forgotten = excess(of: records.count + (claim == nil ? 1 : 0), for: request, in: records)
            let removals = forgotten.flatMap { LineCodec.removal(of: .string($0), owner: request.owner) }
            try bucket.append(removals + LineCodec.encode(request, keepingUnknownOf: claim?.value))
        }
    }

    /// The keys that make room for this answer: as many as there are too many, and an eighth more, so that an owner who
    /// sends all day does not have all keys read for each send.
    private func excess(of count: Int, for request: IdempotentRequest, in records: CurrentRecords) -> [String] {
        let allowed = context.options.quotas.idempotencyKeysPerOwner
        guard count > allowed else { return [] }
        let answered = records.decoded(as: IdempotentRequest.self).filter { $0.answer != nil && $0.key != request.key }
        let oldestFirst = answered.sorted { ($0.createdAt, $0.key) < ($1.createdAt, $1.key) }
        return oldestFirst.prefix(count - allowed + allowed / 8).map(\.key)
    }

    package func releaseIdempotencyKey(_ key: String, owner: String) throws(StoreError) {
        try idempotencyTable.write(owner) { (bucket) throws(StoreError) in
            let claim = idempotencyTable.current(
                owner, id: .string(key), in: try idempotencyTable.lines(of: owner, id: .string(key), in: bucket.file))
            guard claim != nil else { return }
            try bucket.append(LineCodec.removal(of: .string(key), owner: owner))
        }
    }
}

extension CurrentRecords {
    /// The request that has the key, even if it has expired.
    fileprivate func request(_ request: IdempotentRequest) -> IdempotentRequest? {
        record(id: .string(request.key), key: request.owner).flatMap { line(of: $0) }
            .flatMap { IdempotentRequest(line: $0.value) }
    }
}
