// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import NotificationHub
import Store
import System

/// Adds the users of entries, and registers their devices.
struct ImportWork: Sendable {
    let administration: UserAdministration
    let devices: DeviceImport
    let addsUsers: Bool

    struct Result: Sendable {
        /// Nil: the user is not here.
        var user: String?
        var isUserAdded = false
        /// Nil: the entry has no device, or it was not registered.
        var isDeviceAdded: Bool?
        var trouble: Trouble?
    }

    /// Why an entry, or its device, is not imported.
    enum Trouble: Sendable {
        case skipped(ImportSkip)
        /// It concerns this line only.
        case wrong(String)
        /// The store or the hub cannot be used, so no further line would succeed.
        case stopped(String)

        init(_ error: any Error) {
            switch error {
            case let skip as ImportSkip: self = .skipped(skip)
            case let fault as ImportFault: self = .wrong(fault.reason)
            case DeviceImport.Refusal.anothers: self = .skipped(.anotherUser)
            case DeviceImport.Refusal.full(let count):
                self = .wrong("the user has \(count) devices, as many as one user may have")
            case let problem as Problem: self = .wrong(problem.detail)
            case let error as AdministrationError: self = .wrong("\(error)")
            case StoreError.conflict, StoreError.quotaExceeded: self = .wrong("store: \(error)")
            case HubError.refused, HubError.registrationGone: self = .wrong("hub: \(error)")
            case is HubError: self = .stopped("hub: \(error)")
            default: self = .stopped("store: \(error)")
            }
        }
    }

    /// Adds the user and registers the device, if they are not here yet.
    func apply(_ entry: ImportEntry) -> Result {
        var result = Result()
        do {
            let found = try user(entry)
            let user = try found ?? added(entry)
            (result.user, result.isUserAdded) = (user.name, found == nil)
            if found?.version == 0, entry.isDisabled { _ = try administration.disable(user.name) }
            result.isDeviceAdded = try entry.device.map {
                try devices.register($0, id: entry.installation, of: user)
            }
        } catch {
            result.trouble = Trouble(error)
        }
        return result
    }

    /// - Returns: nil for a user who is to be added.
    /// - Throws: `ImportSkip`; `ImportFault`; `AdministrationError`; `StoreError`.
    func user(_ entry: ImportEntry) throws -> User? {
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

extension ImportWork {
    /// The number of users whose entries are imported at the same time. They share the store's writes and the hub's delays.
    private static let threads = 16

    private struct Shared: Sendable {
        var results: [Int: Result] = [:]
        var rest: [[(index: Int, entry: ImportEntry)]]
    }

    /// Imports several entries: the entries of one user one after the other, and different users at the same time.
    /// - Returns: the results in the order of the entries; nil for an entry that was not tried because another one was stopped.
    func apply(_ entries: [ImportEntry]) -> [Result?] {
        var groups: [String: [(index: Int, entry: ImportEntry)]] = [:]
        for (index, entry) in entries.enumerated() {
            groups[entry.user.lowercased(), default: []].append((index, entry))
        }
        let shared = Lock(Shared(rest: Array(groups.values)))
        let ended = Semaphore()
        let work: @Sendable () -> Void = {
            while let group = shared.withLock({ $0.rest.popLast() }) {
                for (index, entry) in group {
                    let result = apply(entry)
                    shared.withLock { $0.results[index] = result }
                    guard case .stopped? = result.trouble else { continue }
                    shared.withLock { $0.rest = [] }
                    break
                }
            }
            ended.signal()
        }
        var started = 0
        for _ in 1..<min(Self.threads, groups.count + 1) where DetachedThread.start(work) == 0 { started += 1 }
        work()
        for _ in 0...started { ended.wait() }
        return shared.withLock { shared in entries.indices.map { shared.results[$0] } }
    }
}
