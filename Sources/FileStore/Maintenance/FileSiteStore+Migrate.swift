// SPDX-License-Identifier: Apache-2.0
import Store
internal import Text

extension FileSiteStore {
    /// Registrations that are moved with one write of each file.
    private static let movedAtOnce = 10_000

    /// Brings a store of an older format to this version's, once: of several processes one does it, while the others wait.
    ///
    /// Format 2 adds `hub/due`. Format 3 has a namespace of the served hub; what was registered there is moved. A process that
    /// is killed in between has not written the format, and the next one that opens the store goes on.
    func migrate(now: Timestamp) throws(StoreError) {
        let folder = StoreFolder(path: context.path, calls: context.options.calls)
        try BucketLocks(context, name: "lock/format").withLock(0) { () throws(StoreError) in
            guard let settings = try folder.readSettings(), settings.format < StoreFolder.format else { return }
            let moved = try moveServedRegistrations(now: now)
            // `indexed.json` names the file that is replaced. Without it the store would be taken for a copy.
            let marker = CleanMarker(context)
            let isClean = marker.isHere
            try folder.writeFormat(context, of: settings)
            if isClean { try marker.write() }
            context.report(.migrated(from: settings.format, to: StoreFolder.format))
            if moved > 0 { context.report(.movedRegistrations(moved)) }
        }
    }

    /// Moves the registrations that belong to no device, as `HubRegistration.movedToServed` says.
    /// - Returns: how many there were.
    private func moveServedRegistrations(now: Timestamp) throws(StoreError) -> Int {
        var devices: Set<UInt64> = []
        let (owned, registrations) = (deviceTable.records, registrationTable.records)
        try owned.forEachID { devices.insert(owned.hash(of: $0)) }
        var foreign: [String] = []
        try registrations.forEachID { id in
            if HubNamespace(of: id) == .backend, !devices.contains(owned.hash(of: id)) { foreign.append(id) }
        }
        var (rest, count) = (foreign[...], 0)
        while !rest.isEmpty {
            let ids = rest.prefix(Self.movedAtOnce)
            rest = rest.dropFirst(ids.count)
            var moved: [HubRegistration] = []
            for id in ids {
                // A process of the older version may have made its device, or renewed the registration, meanwhile: then it stays.
                guard try device(id) == nil, let found = try hubRegistration(id) else { continue }
                moved.append(found)
            }
            _ = try putRecords(moved.map { .hubRegistration($0.movedToServed) }, now: now)
            for one in moved { _ = try removeHubRegistration(one.id, version: one.version) }
            count += moved.count
        }
        return count
    }
}

extension BucketTable {
    /// Calls `body` with the id of every record, in a table whose key is the id.
    fileprivate func forEachID(_ body: (String) -> Void) throws(StoreError) {
        try forEachFile { (content, range) throws(StoreError) in
            for record in CurrentRecords(content, self).inOrder {
                let id = record.name.keyText
                if range.contains(hash(of: id)) { body(id) }
            }
        }
    }
}
