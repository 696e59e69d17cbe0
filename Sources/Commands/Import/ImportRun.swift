// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import JWT
import Store
import Text

/// Two passes over a file: the first checks all of it, and the second adds the missing users and devices.
struct ImportRun {
    let file: ImportFile
    let mapping: ImportMapping
    var work: ImportWork
    /// The issuer whose users the list has, by their subjects; nil: the list has names.
    let issuer: UserPrefix?
    /// The number of wrong lines that are named.
    let namedFaults: Int
    private(set) var summary = ImportSummary()

    /// Numbers of records that are wrong or skipped. Of each user and device only a hash is kept: lists are long.
    private var passedOver: Set<Int> = []
    private var planned: [UInt64: Int] = [:]
    private var lines: [UInt64: (line: Int, user: UInt64)] = [:]
    private let sipHash = SipHash.random()
    private var progress = Progress()

    /// Entries that are imported together.
    private static let batch = 512

    init(_ file: ImportFile, _ mapping: ImportMapping, _ work: ImportWork, issuer: UserPrefix?, namedFaults: Int) {
        (self.file, self.mapping, self.work, self.issuer) = (file, mapping, work, issuer)
        self.namedFaults = namedFaults
    }

    /// Reads all of the file, names the lines that are wrong, and changes nothing.
    /// - Throws: `CommandError`; `StoreError`; `HubError`.
    mutating func check() throws {
        summary.isDryRun = true
        try file.forEachRecord(checkColumns: mapping.check) { record in
            summary.records += 1
            progress.tell("checked \(summary.records) records")
            do {
                let entry = try entry(record)
                if entry.hasForeignHash { summary.withoutPassword += 1 }
                if let skip = entry.skipsDevice { summary.skip(skip, line: record.line) }
                try check(entry, record.line)
            } catch {
                if case .stopped = note(ImportWork.Trouble(error), record) { throw error }
            }
        }
        if summary.refused > namedFaults { Terminal.printError("and \(summary.refused - namedFaults) more") }
    }

    /// Adds the users and registers the devices that are not here yet.
    /// - Throws: `Stopped`; `CommandError`.
    mutating func apply() throws {
        let total = summary.records
        (summary.users, summary.devices, summary.isDryRun) = (ImportSummary.Count(), ImportSummary.Count(), false)
        (planned, lines) = ([:], [:])
        var batch: [(record: ImportRecord, entry: ImportEntry)] = []
        try file.forEachRecord(checkColumns: mapping.check) { record in
            guard !passedOver.contains(record.number) else { return }
            guard let entry = try? entry(record) else {
                throw CommandError("\(file.path):\(record.place): the file was changed meanwhile")
            }
            batch.append((record, entry))
            guard batch.count >= Self.batch else { return }
            try apply(batch)
            batch.removeAll(keepingCapacity: true)
            progress.tell("imported \(record.number) of \(total) records")
        }
        try apply(batch)
    }

    /// The store or the hub could not be used on the way.
    struct Stopped: Error {
        let place: String
        let reason: String
    }

    private mutating func apply(_ batch: [(record: ImportRecord, entry: ImportEntry)]) throws {
        var stopped: Stopped?
        for ((record, _), result) in zip(batch, work.apply(batch.map(\.entry))) {
            guard let result else { continue }
            count(result)
            guard let trouble = result.trouble, case .stopped(let reason) = note(trouble, record) else { continue }
            stopped = stopped ?? Stopped(place: record.place, reason: reason)
        }
        if let stopped { throw stopped }
    }

    private mutating func count(_ result: ImportWork.Result) {
        if let user = result.user {
            let isFirst = planned.updateValue(0, forKey: sipHash.hash(user)) == nil
            if result.isUserAdded || isFirst { summary.users.add(isNew: result.isUserAdded) }
        }
        if let isNew = result.isDeviceAdded { summary.devices.add(isNew: isNew) }
    }

    private func entry(_ record: ImportRecord) throws -> ImportEntry {
        var entry = try ImportEntry(record.fields.get(), mapping)
        if let issuer { entry.user = issuer.userName(of: entry.user) }
        return entry
    }

    /// Counts a record that is wrong or skipped, and names a wrong one.
    private mutating func note(_ trouble: ImportWork.Trouble, _ record: ImportRecord) -> ImportWork.Trouble {
        switch trouble {
        case .stopped: break
        case .skipped(let skip):
            passedOver.insert(record.number)
            summary.skip(skip, line: record.line)
        case .wrong(let reason):
            passedOver.insert(record.number)
            summary.refused += 1
            if summary.refused <= namedFaults { Terminal.printError("\(file.path):\(record.place): \(reason)") }
        }
        return trouble
    }

    private mutating func check(_ entry: ImportEntry, _ line: Int) throws {
        let found = try work.user(entry)
        let user = try found ?? work.administration.newcomer(UserAdministration.checked(entry.user))
        let key = sipHash.hash(user.name)
        var isNewDevice: Bool?
        if let device = entry.device { isNewDevice = try isNew(device, entry.installation, of: user, key, line) }
        // Of a line that is wrong the user is not counted either.
        if planned[key] == nil { summary.users.add(isNew: found == nil) }
        planned[key, default: 0] += isNewDevice == true ? 1 : 0
        if let isNewDevice { summary.devices.add(isNew: isNewDevice) }
    }

    /// Checks a device, also against the lines before.
    /// - Parameter key: the hash of the user's name.
    private mutating func isNew(
        _ device: DeviceRegistration, _ installation: String?, of user: User, _ key: UInt64, _ line: Int
    ) throws -> Bool {
        // Push tokens are compared in the hub's own way when they are registered.
        let token = sipHash.hash("token \(device.handle.lowercased())")
        if let other = lines[token] {
            guard other.user == key else {
                throw ImportFault(reason: "the push token of line \(other.line), whose user is another")
            }
            return false
        }
        let app = installation.map { sipHash.hash("installation \(key) \($0)") }
        if let app, lines[app] != nil { return false }
        let isAdded = try work.devices.isNew(
            device, id: installation, of: user, planned: planned[key, default: 0])
        lines[token] = (line, key)
        if let app { lines[app] = (line, key) }
        return isAdded
    }
}
