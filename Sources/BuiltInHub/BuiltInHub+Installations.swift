// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store
import Text

/// Installations. Each is one record, so its registrations change with it, all or none.
extension BuiltInHub {
    package func installation(_ id: String) throws(ServableHubError) -> Installation {
        try existing(id).installation
    }

    package func put(_ installation: Installation) throws(ServableHubError) {
        try untilUncontested { () throws(ServableHubError) in
            var record = try found(installation.id) ?? InstallationRecord(installation)
            record.replace(by: installation)
            try write(record)
        }
    }

    package func change(
        _ id: String, by patch: InstallationPatch, check: (Installation) throws(ServableHubError) -> Void
    ) throws(ServableHubError) {
        try untilUncontested { () throws(ServableHubError) in
            var record = try existing(id)
            let changed = try patch.applied(to: record.installation)
            try check(changed)
            record.replace(by: changed)
            try write(record)
        }
    }

    package func removeInstallation(_ id: String) throws(ServableHubError) {
        guard let record = try found(id)?.stored else { return }
        _ = try storing { () throws(StoreError) in try store.removeHubRegistration(record.id, version: nil) }
    }

    /// Whether it is, or was, the id of one of an installation's registrations.
    func isOfInstallation(_ id: RegistrationID) throws(ServableHubError) -> Bool {
        try storing { () throws(StoreError) in try store.installation(of: namespace.stored(id.description)) != nil }
    }

    /// Removes one of an installation's registrations, and the installation with the last of them.
    func removeOfInstallation(_ id: RegistrationID, at condition: VersionCondition) throws(ServableHubError) {
        try untilUncontested { () throws(ServableHubError) in
            try storing { () throws(StoreError) in
                try store.removeOfInstallation(namespace.stored(id.description), now: now()) { condition.matches($0) }
            }.check()
        }
    }

    private func found(_ id: String) throws(ServableHubError) -> InstallationRecord? {
        let stored = namespace.stored(RegistrationID(installation: id).description)
        let record = try storing { () throws(StoreError) -> InstallationRecord? in
            guard let record = try store.hubRegistration(stored), record.isInstallation else { return nil }
            return try InstallationRecord(record)
        }
        // Another one of the same digest is not to be expected.
        return record?.installation.id.lowercased() == id.lowercased() ? record : nil
    }

    private func existing(_ id: String) throws(ServableHubError) -> InstallationRecord {
        guard let record = try found(id) else { throw .noSuchInstallation }
        return record
    }

    private func write(_ record: InstallationRecord) throws(ServableHubError) {
        let record = record.record(in: namespace, now: now())
        _ = try storing { () throws(StoreError) in try store.putHubRegistration(record) }
    }

    /// Tries again where another request writes the same record in between.
    private func untilUncontested(_ body: () throws(ServableHubError) -> Void) throws(ServableHubError) {
        for _ in 1..<Self.maximumTries {
            do throws(ServableHubError) {
                return try body()
            } catch {
                guard error == .conflict else { throw error }
            }
        }
        try body()
    }
}

/// What became of the removal of one of an installation's registrations.
enum InstallationRemoval {
    case done, absent, mismatch

    fileprivate func check() throws(ServableHubError) {
        switch self {
        case .done: return
        case .absent: throw .noSuchRegistration
        case .mismatch: throw .versionMismatch
        }
    }
}

extension HubStore {
    /// Removes one of an installation's registrations, and the installation with the last of them.
    /// - Parameters:
    ///   - id: as it would be stored.
    ///   - isWhole: whether the others of its channel go with it.
    /// - Throws: `StoreError.conflict`, if another request changes the installation meanwhile.
    func removeOfInstallation(
        _ id: String, withChannel isWhole: Bool = false, now: Int64, if isWanted: (_ version: Int) -> Bool
    ) throws(StoreError) -> InstallationRemoval {
        guard let stored = try installation(of: id) else { return .absent }
        var record = try InstallationRecord(stored)
        guard record.registrations.contains(where: { $0.registration.id == id }),
            let number = RegistrationID(stored.namespace.plain(id))?.ofInstallation?.number
        else { return .absent }
        guard isWanted(stored.version) else { return .mismatch }
        record.remove(number, withChannel: isWhole)
        guard !record.numbers.isEmpty else {
            return try removeHubRegistration(stored.id, version: stored.version) ? .done : .absent
        }
        _ = try putHubRegistration(record.record(in: stored.namespace, now: now))
        return .done
    }
}
