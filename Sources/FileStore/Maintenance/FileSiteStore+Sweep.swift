// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store
import System
package import Text

/// Where the next sweep begins. Only a place to continue at: losing it costs nothing.
final class SweepPosition: Sendable {
    struct Place: Equatable {
        var table = 0
        var hash: UInt64 = 0
    }

    private let place = Lock(Place())

    var current: Place { place.withLock { $0 } }

    func move(to new: Place) { place.withLock { $0 = new } }
}

extension FileSiteStore {
    /// Looks at no more than `budget` buckets, continuing where the last call ended, and rewrites those that hold
    /// something expired or are mostly superseded. Readers never see what has expired anyway, so this is about space,
    /// and about payloads not lying on the disk for longer than they must.
    /// A bucket that cannot be tidied is reported and passed over until the next round.
    /// - Throws: `readOnly` and `poisoned`.
    package func sweep(budget: Int, now: Timestamp) throws(StoreError) -> SweepProgress {
        try context.checkWritable()
        var progress = SweepProgress()
        var place = sweeper.current
        // Hours come and go between two calls: one that is passed over then is met in the next round.
        let hours = try dueFiles.hours()
        while progress.visited < budget, !progress.finishedRound {
            sweeper.move(to: place)
            guard place.table < tables.count + hours.count else {
                place = SweepPosition.Place()
                progress.finishedRound = true
                break
            }
            progress.visited += 1
            guard place.table < tables.count else {
                if try tidy(hours[place.table - tables.count], now: now) { progress.compacted += 1 }
                place = SweepPosition.Place(table: place.table + 1)
                continue
            }
            let table = tables[place.table]
            do throws(StoreError) {
                if table.schema.name == deviceTable.records.schema.name {
                    try removeOverdueDevices(place.hash, now: now)
                } else if table.schema.name == registrationTable.records.schema.name {
                    try moveForeignRegistrations(place.hash, now: now)
                }
                if try table.tidy(place.hash, now: now) { progress.compacted += 1 }
            } catch {
                if error == .poisoned || error == .readOnly { throw error }
                context.report(.tidyingFailed(file: table.schema.name, error))
            }
            if let next = table.nextHash(place.hash, depth: table.depth(place.hash)) {
                place.hash = next
            } else {
                place = SweepPosition.Place(table: place.table + 1)
            }
        }
        sweeper.move(to: place)
        return progress
    }
}

extension FileSiteStore {
    /// - Returns: whether the file was rewritten or removed.
    private func tidy(_ hour: DueHour, now: Timestamp) throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try dueFiles.tidy(hour, now: now)
        } catch {
            if error == .poisoned || error == .readOnly { throw error }
            context.report(.tidyingFailed(file: DueFiles.folder, error))
            return false
        }
    }

    /// Removes the registration ids of that file that were handed out and not used in time, and the devices that were gone for
    /// too long. Finishes removals from the local hub whose process has ended in between.
    private func removeOverdueDevices(_ hash: UInt64, now: Timestamp) throws(StoreError) {
        let table = deviceTable.records
        guard let (file, _) = try table.open(hash, O_RDONLY) else { return }
        let devices = CurrentRecords(try BucketTable.content(of: file), table).decoded(as: DeviceRecord.self)
        try listGone(devices)
        for device in devices {
            do throws(StoreError) {
                if device.hasLostRemoval(now: now) { try finishRemoval(of: device) }
                if device.isOverdue(now: now) { _ = try deviceTable.remove(device.id, version: device.version) }
            } catch {
                // A request has used it in this moment.
                if error != .conflict { throw error }
            }
        }
    }
}

extension FileSiteStore {
    /// Lists gone devices by their handle, if an earlier version has marked them. One that is registered again meanwhile leaves a
    /// posting that readers pass over.
    private func listGone(_ devices: [DeviceRecord]) throws(StoreError) {
        let postings = devices.compactMap { device in
            device.goneEntry(channelIndex).map { IndexPosting(id: device.id, entry: $0) }
        }
        let missing = try channelIndex.missing(postings)
        if !missing.isEmpty { _ = try channelIndex.add(missing) }
    }

    /// A device that is registered again writes its record first and the hub's registration after it. The registration is read
    /// before the record is found unchanged, so a new registration has a later version and stays.
    /// - Throws: `conflict`, if it is registered again at this moment.
    private func finishRemoval(of device: DeviceRecord) throws(StoreError) {
        let registration = try hubRegistration(device.id)
        guard try self.device(device.id)?.version == device.version else { return }
        if let registration { _ = try removeHubRegistration(registration.id, version: registration.version) }
        try noteRemoved(device.id)
    }
}

extension BucketTable {
    /// Compacts the file of that hash if it is worth it, and removes what splits and rewrites left behind.
    /// - Returns: whether it was compacted.
    @discardableResult
    func tidy(_ hash: UInt64, now: Timestamp) throws(StoreError) -> Bool {
        let depth = depth(hash)
        try removeSplitFiles(hash, depth: depth)
        try removeTemporaries(hash, depth: depth)
        guard let (file, depth) = try open(hash, O_RDONLY),
            LiveLines(try Self.content(of: file), self, depth: depth, now: now)
                .isWorthCompacting(try file.identity().size)
        else { return false }
        return try withLock(hash) { () throws(StoreError) -> Bool in
            guard let (file, depth) = try open(hash, O_RDWR | O_APPEND) else { return false }
            _ = try BucketWriter(context, file)
            try compact(file, hash, depth: depth, now: now)
            return true
        }
    }

    /// A file beside the folder of the same name was split. No process reads it, but a program may be about to copy it.
    private func removeSplitFiles(_ hash: UInt64, depth: Int) throws(StoreError) {
        for level in 0..<depth {
            let name = path(hash, depth: level) + Self.fileSuffix
            guard let file = FileIdentity(path: context.path + "/" + name) else { continue }
            let (age, overflow) = FileIdentity.clock.subtractingReportingOverflow(file.changedAt)
            // A time that is still to come tells nothing: the clock was set back.
            let isNew = !overflow && age >= 0 && .nanoseconds(age) < context.options.splitFileLifetime
            guard !isNew else { continue }
            try withLock(hash) { () throws(StoreError) in
                unlink(context.path + "/" + name)
                try context.flushFolder(Self.folder(of: name))
            }
        }
    }
}

extension BucketTable {
    /// Removes what a rewrite or a split that was cut short, or a copy of one under way, has under its temporary name.
    /// The next rewrite would write over it, but until then it holds payloads for longer than it may.
    func removeTemporaries(_ hash: UInt64, depth: Int) throws(StoreError) {
        for level in 0...depth {
            let path = path(hash, depth: level)
            let names = [path + Self.fileSuffix + ".tmp", path + ".tmp"]
            guard names.contains(where: { access(context.path + "/" + $0, F_OK) == 0 }) else { continue }
            try withLock(hash) { () throws(StoreError) in
                unlink(context.path + "/" + names[0])
                try removeFolder(names[1])
            }
        }
    }
}

extension LiveLines {
    /// Small gains wait for the writer that fills the file.
    fileprivate func isWorthCompacting(_ size: Int) -> Bool {
        hasExpired || !excess.isEmpty || size > 4_096 && liveBytes < size / 2
    }
}
