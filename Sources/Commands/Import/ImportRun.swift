// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import JWT
import NotificationHub
import Store
import Text

/// The work of an import: first all of the file is checked, then what is missing is added.
struct ImportRun {
    let file: ImportFile
    let mapping: ImportMapping
    let administration: UserAdministration
    let devices: DeviceImport
    /// The issuer whose users the list has, by their subjects; nil: the list has names.
    let issuer: UserPrefix?
    let addsUsers: Bool
    /// The number of wrong lines that are named.
    let namedFaults: Int
    private(set) var summary = ImportSummary()

    /// Lines that are wrong or skipped. Of each user and device only a hash is kept: lists are long.
    private var passedOver: Set<Int> = []
    private var planned: [UInt64: Int] = [:]
    private var lines: [UInt64: (line: Int, user: UInt64)] = [:]
    private let sipHash = SipHash.random()
    private var progress = Progress()

    init(
        _ file: ImportFile, _ mapping: ImportMapping, administration: UserAdministration, devices: DeviceImport,
        issuer: UserPrefix?, addsUsers: Bool, namedFaults: Int
    ) {
        (self.file, self.mapping, self.administration, self.devices) = (file, mapping, administration, devices)
        (self.issuer, self.addsUsers, self.namedFaults) = (issuer, addsUsers, namedFaults)
    }

    /// Reads all of the file, names the lines that are wrong, and changes nothing.
    /// - Throws: `CommandError`; `StoreError`; `HubError`.
    mutating func check() throws {
        summary.isDryRun = true
        try file.forEachRecord(checkColumns: mapping.check) { record in
            summary.records += 1
            progress.tell("checked \(summary.records) records")
            try take(record) { run, entry in
                if entry.hasForeignHash { run.summary.withoutPassword += 1 }
                if let skip = entry.skipsDevice { run.summary.skip(skip, line: record.line) }
                try run.check(entry, record.line)
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
        var done = 0
        try file.forEachRecord(checkColumns: mapping.check) { record in
            done += 1
            progress.tell("imported \(done) of \(total) records")
            guard !passedOver.contains(record.line) else { return }
            do {
                try take(record) { run, entry in try run.apply(entry) }
            } catch let error as StoreError {
                throw Stopped(line: record.line, reason: "store: \(error)")
            } catch let error as HubError {
                throw Stopped(line: record.line, reason: "hub: \(error)")
            }
        }
    }

    /// The store or the hub cannot be used, so no further line would succeed.
    struct Stopped: Error {
        let line: Int
        let reason: String
    }

    /// Reads an entry, and counts it where it is wrong or skipped.
    /// - Throws: what ends the import.
    private mutating func take(_ record: ImportRecord, _ body: (inout ImportRun, ImportEntry) throws -> Void) throws {
        do {
            var entry = try ImportEntry(record.fields.get(), mapping)
            if let issuer { entry.user = issuer.userName(of: entry.user) }
            try body(&self, entry)
        } catch let skip as ImportSkip {
            passedOver.insert(record.line)
            summary.skip(skip, line: record.line)
        } catch {
            guard let reason = Self.reason(error) else { throw error }
            passedOver.insert(record.line)
            summary.refused += 1
            guard summary.refused <= namedFaults else { return }
            Terminal.printError("\(file.path):\(record.line): \(reason)")
        }
    }

    /// - Returns: nil for an error that is not only about one line.
    private static func reason(_ error: any Error) -> String? {
        switch error {
        case let fault as ImportFault: fault.reason
        case let problem as Problem: problem.detail
        case let error as AdministrationError: "\(error)"
        case StoreError.conflict, StoreError.quotaExceeded: "\(error)"
        case HubError.refused, HubError.registrationGone: "hub: \(error)"
        default: nil
        }
    }

    private mutating func check(_ entry: ImportEntry, _ line: Int) throws {
        let found = try user(entry)
        let user = try found ?? administration.newcomer(UserAdministration.checked(entry.user))
        let key = sipHash.hash(user.name)
        if planned[key] == nil {
            planned[key] = 0
            if found == nil { summary.users.added += 1 } else { summary.users.present += 1 }
        }
        guard let device = entry.device else { return }
        // Push tokens are compared in the hub's own way when they are registered.
        let token = sipHash.hash("token \(device.handle.lowercased())")
        let installation = entry.installation.map { sipHash.hash("installation \(key) \($0)") }
        if let other = lines[token] {
            guard other.user == key else {
                throw ImportFault(reason: "the push token of line \(other.line), whose user is another")
            }
            return summary.devices.present += 1
        }
        let isRepeated = installation.map { lines[$0] != nil } ?? false
        guard try !isRepeated && devices.isNew(
            device, id: entry.installation, of: user, planned: planned[key, default: 0])
        else { return summary.devices.present += 1 }
        for place in [token, installation].compactMap(\.self) { lines[place] = (line, key) }
        planned[key, default: 0] += 1
        summary.devices.added += 1
    }

    private mutating func apply(_ entry: ImportEntry) throws {
        let found = try user(entry)
        let user = try found ?? added(entry)
        let isFirst = planned.updateValue(0, forKey: sipHash.hash(user.name)) == nil
        if found == nil { summary.users.added += 1 } else if isFirst { summary.users.present += 1 }
        if found?.version == 0, entry.isDisabled { _ = try administration.disable(user.name) }
        guard let device = entry.device else { return }
        if try devices.register(device, id: entry.installation, of: user) {
            summary.devices.added += 1
        } else {
            summary.devices.present += 1
        }
    }

    /// - Returns: nil for a user who is to be added.
    private func user(_ entry: ImportEntry) throws -> User? {
        do {
            return try administration.existing(entry.user)
        } catch AdministrationError.noUser {
            if try administration.wasRemoved(entry.user) { throw ImportSkip.removedUser }
            guard addsUsers else { throw ImportFault(reason: "\(AdministrationError.noUser(entry.user))") }
            return nil
        }
    }

    private func added(_ entry: ImportEntry) throws -> User {
        do {
            _ = try administration.add(
                entry.user, passwordHash: entry.passwordHash ?? "", isDisabled: entry.isDisabled)
        } catch AdministrationError.isThere {
            // Another process was first.
        }
        return try administration.existing(entry.user)
    }
}
