// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store
internal import System

/// A registration, and what it says. One of an installation is not in the store by itself.
struct KnownRegistration: Sendable {
    let registration: HubRegistration
    let description: RegistrationDescription
    var isOfInstallation = false

    /// What a client gets that reads it.
    var answer: RegistrationDescription {
        var answer = registration.answer(description, isRead: true)
        // As recorded of such registrations.
        if isOfInstallation { answer.expirationTime = "9999-12-31T23:59:59.9999999Z" }
        return answer
    }
}

/// Reads stored registrations for lists and sends, which one that cannot be read must not end: it is passed over, and
/// reported the first time.
final class RegistrationReader: Sendable {
    /// So many are reported; an operator who has more knows by then.
    static let maximumReported = 1024

    private let report: @Sendable (StoreError) -> Void
    private let reported = Lock<Set<String>>([])

    /// - Parameter report: hears `StoreError.damaged`, which names the registration.
    init(report: @escaping @Sendable (StoreError) -> Void) {
        self.report = report
    }

    /// - Returns: the registrations that a record stands for, one or those of an installation; none when the record is not what this
    ///   hub writes.
    func read(_ record: HubRegistration) -> [KnownRegistration] {
        do throws(StoreError) {
            guard record.isInstallation else {
                return [KnownRegistration(registration: record, description: try record.decoded())]
            }
            return try InstallationRecord(record).registrations
        } catch {
            let isNew = reported.withLock {
                $0.count < Self.maximumReported && $0.insert(record.id).inserted
            }
            if isNew { report(error) }
            return []
        }
    }

    /// - Parameter id: as the store has it, or as one of an installation's registrations would be stored.
    func find(_ id: String, in store: any HubStore) throws(StoreError) -> KnownRegistration? {
        if let record = try store.hubRegistration(id), !record.isInstallation { return read(record).first }
        guard let record = try store.installation(of: id) else { return nil }
        return read(record).first { $0.registration.id == id }
    }
}

extension HubStore {
    /// The record of the installation that such a registration would be of.
    func installation(of id: String) throws(StoreError) -> HubRegistration? {
        let namespace = HubNamespace(of: id)
        guard let record = RegistrationID(namespace.plain(id))?.ofInstallation?.record else { return nil }
        let found = try hubRegistration(namespace.stored(record.description))
        return found?.isInstallation == true ? found : nil
    }

    /// The records of a channel, also of one that is not the first of its installation.
    func hubRegistrations(of channel: String, in namespace: HubNamespace) throws(StoreError) -> [HubRegistration] {
        var records = try hubRegistrations(channel: namespace.stored(channel)).filter { $0.namespace == namespace }
        try forEachHubRegistration(tag: namespace.stored(InstallationRecord.tag(ofTile: channel))) { record in
            if !records.contains(where: { $0.id == record.id }) { records.append(record) }
        }
        return records
    }
}
