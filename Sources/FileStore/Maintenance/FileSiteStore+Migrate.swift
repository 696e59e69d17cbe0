// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store
internal import Text

extension FileSiteStore {
    /// Registrations that a migration moves with one write of each file.
    private static let movedAtOnce = 10_000

    /// Brings a store of an older format to this version's, once: of several processes one does it, while the others wait.
    ///
    /// Format 2 adds `hub/due`. Format 3 has a namespace of the served hub; what was registered there is moved. A process that
    /// is killed in between has not written the format, and the next one that opens the store goes on.
    /// - Throws: `notReady`, if another process is at it for too long.
    func migrate(now: Timestamp) throws(StoreError) {
        var isAtIt = false
        do throws(StoreError) {
            try BucketLocks(context, name: "lock/format").withLock(
                0, timeout: context.options.migrationTimeout,
                onWait: {
                    context.options.onMigrating()
                    context.report(.awaitsMigration)
                }
            ) { () throws(StoreError) in
                isAtIt = true
                try migrateFormat(now: now)
            }
        } catch {
            guard !isAtIt, case .busy = error else { throw error }
            throw .notReady(
                detail: "another process brings it to this version's format, and is not done yet; try again later")
        }
    }

    /// Under the lock.
    private func migrateFormat(now: Timestamp) throws(StoreError) {
        let folder = StoreFolder(path: context.path, calls: context.options.calls)
        guard let settings = try folder.readSettings(), settings.format < StoreFolder.format else { return }
        var found = StrayRegistrations()
        try registrationTable.records.forEachFile { (content, range) throws(StoreError) in
            context.options.onMigrating()
            try addStrays(to: &found, in: content, range)
            if found.count >= Self.movedAtOnce { try place(&found, now: now) }
        }
        context.options.onMigrating()
        try place(&found, now: now)
        // `indexed.json` names the file that is replaced. Without it the store would be taken for a copy.
        let marker = CleanMarker(context)
        let isClean = marker.isHere
        try folder.writeFormat(context, of: settings)
        if isClean { try marker.write() }
        context.report(.migrated(from: settings.format, to: StoreFolder.format))
    }

    /// Moves what a process of an older version, which goes on after the migration, has registered for keys of the served hub.
    /// - Parameter hash: one of the registrations' file.
    func moveForeignRegistrations(_ hash: UInt64, now: Timestamp) throws(StoreError) {
        let table = registrationTable.records
        guard let (file, depth) = try table.open(hash, O_RDONLY) else { return }
        let range = HashRange(first: hash, end: table.nextHash(hash, depth: depth))
        var found = StrayRegistrations()
        try addStrays(to: &found, in: BucketTable.content(of: file), range)
        try place(&found, now: now)
    }

    private func place(_ found: inout StrayRegistrations, now: Timestamp) throws(StoreError) {
        if !found.foreign.isEmpty {
            let count = try moveToServed(found.foreign, now: now)
            if count > 0 { context.report(.movedRegistrations(count)) }
        }
        if !found.orphaned.isEmpty { _ = try removeHubRegistrations(found.orphaned) }
        found = StrayRegistrations()
    }

    /// Devices are looked for after the file was read, so that of a device that is being made both are found, or none.
    private func addStrays(
        to found: inout StrayRegistrations, in content: BucketContent, _ range: HashRange
    ) throws(StoreError) {
        let devices = deviceTable.records
        let unknown = CurrentRecords(content, registrationTable.records).decoded(as: HubRegistration.self)
            .map { (hash: devices.hash(of: $0.id), element: $0) }
            .filter { $0.element.needsNamespace && range.contains($0.hash) }
        var strays = StrayRegistrations()
        try devices.forEachFile(holding: unknown) { (group, content) throws(StoreError) in
            let records = CurrentRecords(content, devices)
            for (_, registration) in group {
                guard records.record(id: .string(registration.id), key: registration.id) == nil else { continue }
                // After a removal versions count on, as long as its line is in the file.
                if let content, records.hasRemovals,
                    try devices.nextVersion(of: registration.id, after: nil, in: content) > 1
                {
                    strays.orphaned.append(registration)
                } else {
                    strays.foreign.append(registration)
                }
            }
        }
        found.foreign += strays.foreign
        found.orphaned += strays.orphaned
    }
}

/// Registrations that need a namespace and have no device.
private struct StrayRegistrations {
    /// Made with keys of the served hub, as far as is known.
    var foreign: [HubRegistration] = []
    /// Of devices that were removed. Their process removes the registration next, or has ended before it did.
    var orphaned: [HubRegistration] = []

    var count: Int { foreign.count + orphaned.count }
}
