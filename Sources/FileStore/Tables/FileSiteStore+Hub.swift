// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store
package import Text

extension FileSiteStore {
    package func hubRegistration(_ id: String) throws(StoreError) -> HubRegistration? {
        try registrationTable.record(id)
    }

    package func putHubRegistration(_ registration: HubRegistration) throws(StoreError) -> HubRegistration {
        try registration.description.checkDocument()
        return try registrationTable.put(registration)
    }

    package func removeHubRegistration(_ id: String, version: Int?) throws(StoreError) -> Bool {
        try registrationTable.remove(id, version: version)
    }

    package func removeHubRegistrations(_ registrations: [HubRegistration]) throws(StoreError) -> Int {
        try registrationTable.remove(registrations)
    }

    package func hubRegistrations(channel: String) throws(StoreError) -> [HubRegistration] {
        try registrationTable.records(channel, channelIndex)
    }

    package func hubRegistrations(
        tag: String, after: String?, limit: Int
    ) throws(StoreError) -> Page<HubRegistration> {
        let limit = max(1, min(limit, .max - 1))
        let found = try registrationTable.records(tag, tagIndex, after: after, limit: limit + 1)
        let page = Array(found.prefix(limit))
        return Page(elements: page, next: found.count > limit ? page.last?.id : nil)
    }

    package func forEachHubRegistration(
        tag: String, _ body: (HubRegistration) -> Void
    ) throws(StoreError) {
        try registrationTable.forEachRecord(tag, tagIndex, body)
    }

    package func hasHubRegistration(
        tag: String, where isWanted: (HubRegistration) -> Bool
    ) throws(StoreError) -> Bool {
        try registrationTable.hasRecord(tag, tagIndex, where: isWanted)
    }

    /// Counts postings, of which a few may be stale.
    package func hubRegistrationCount(tag: String, limit: Int) throws(StoreError) -> Int {
        try tagIndex.readLines(of: tag)?.firstIDs(of: tag, tagIndex.schema, limit: limit).ids.count ?? 0
    }

    /// Walks the hashes of the ids from the lowest: an id keeps its hash wherever its line moves, so none comes twice.
    package func hubRegistrations(
        in namespace: HubNamespace?, after: String?, limit: Int
    ) throws(StoreError) -> Page<HubRegistration> {
        let table = registrationTable.records
        let limit = max(1, limit)
        let last = try after.map(Self.hash)
        var found: [(hash: UInt64, registration: HubRegistration)] = []
        var position: UInt64? = last ?? 0
        while let hash = position, found.count <= limit {
            let bucket = try table.open(hash, O_RDONLY)
            if let file = bucket?.file {
                let records = CurrentRecords(try BucketTable.content(of: file), table).decoded(as: HubRegistration.self)
                    .filter { namespace == nil || $0.namespace == namespace }
                    .map { (hash: table.hash(of: $0.id), registration: $0) }
                found += records.filter { last == nil || $0.hash > last ?? 0 }.sorted { $0.hash < $1.hash }
            }
            position = table.nextHash(hash, depth: bucket?.depth ?? table.depth(hash))
        }
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last.map { String($0.hash, radix: 16) } : nil
        return Page(elements: page.map(\.registration), next: next)
    }

    /// What `hubRegistrations(in:after:limit:)` has written as the name of a page.
    private static func hash(ofPage name: String) throws(StoreError) -> UInt64 {
        guard let hash = UInt64(name, radix: 16), String(hash, radix: 16) == name else {
            throw .invalidContinuationToken
        }
        return hash
    }

    package func putHubMessage(_ message: HubMessage) throws(StoreError) {
        var message = message
        message.notBefore = nil
        try message.document.checkDocument()
        let line = LineCodec.encode { message.write(to: &$0) }
        try messageTable.write(message.id, now: message.createdAt, durably: false) { (bucket) throws(StoreError) in
            try bucket.append(line)
        }
    }

    package func hubMessage(_ id: String, now: Timestamp) throws(StoreError) -> HubMessage? {
        let line = messageTable.current(id, in: try messageTable.readLines(of: id))
        return line.flatMap { HubMessage(line: $0) }.flatMap { $0.expiresAt > now ? $0 : nil }
    }
}

extension HubRegistration: IndexedRecord {}
