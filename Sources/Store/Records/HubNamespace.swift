// SPDX-License-Identifier: Apache-2.0
package import Text

/// Whose a registration of the built-in hub is. Both namespaces share the hub's tables.
///
/// Ids, channels and tags of `served` are stored behind a sign with which none of the backend's ids and tags begins. So a
/// look-up in one namespace neither finds nor reads past what is in the other.
package enum HubNamespace: String, CaseIterable, Sendable {
    /// The devices of the backend's users.
    case backend
    /// The devices that were registered with a key of the served hub.
    case served

    private static let sign = "~"

    /// The namespace of an id as it is stored.
    package init(of storedID: String) {
        self = storedID.utf8.starts(with: Self.sign.utf8) ? .served : .backend
    }

    /// An id, a channel or a tag of this namespace as it is stored.
    package func stored(_ name: String) -> String { self == .backend ? name : Self.sign + name }

    /// What `stored(_:)` has made a stored name of.
    package func plain(_ stored: String) -> String {
        self == .backend ? stored : String(decoding: stored.utf8.dropFirst(Self.sign.utf8.count), as: UTF8.self)
    }
}

extension HubRegistration {
    package var namespace: HubNamespace { HubNamespace(of: id) }
    /// The id that clients of the hub know.
    package var plainID: String { namespace.plain(id) }
    /// The channel as the device has it.
    package var plainChannel: String { namespace.plain(channel) }

    /// Whether a version of this program with one namespace has written it, and no later version since.
    ///
    /// Such versions keep all registrations in the backend's namespace. Of these the ones without a `DeviceRecord` were made
    /// with keys of the served hub: the backend makes that record first and removes it last. The lack of one tells nothing about those
    /// that a later version has made: in a copy of a store that others write to, the record of a new device may be missing.
    package var needsNamespace: Bool { namespace == .backend && !isNamespaced }

    /// A registration of the backend's namespace in the one of the served hub.
    package var movedToServed: HubRegistration {
        guard namespace == .backend else { return self }
        var moved = self
        (moved.id, moved.channel) = (HubNamespace.served.stored(id), HubNamespace.served.stored(channel))
        moved.tags = tags.map(HubNamespace.served.stored)
        moved.isNamespaced = true
        return moved
    }
}

extension StateStore {
    /// A record of an export, with a registration in its namespace. The devices must be in the store before.
    package func inItsNamespace(_ record: StoredRecord) throws(StoreError) -> StoredRecord {
        guard var registration = record.record as? HubRegistration, registration.needsNamespace else { return record }
        guard try device(registration.id) != nil else { return .hubRegistration(registration.movedToServed) }
        registration.isNamespaced = true
        return .hubRegistration(registration)
    }
}

extension HubStore where Self: TransferStore {
    /// Moves registrations that need a namespace, and whose devices the caller has looked for after it read them, to that of the
    /// served hub. Where one of that id is, the one that was written last counts. One that was renewed meanwhile stays for the
    /// next time.
    /// - Returns: how many were moved.
    package func moveToServed(_ registrations: [HubRegistration], now: Timestamp) throws(StoreError) -> Int {
        let moved = registrations.map(\.movedToServed)
        if try putRecords(moved.map { .hubRegistration($0) }, now: now) < moved.count {
            for registration in moved { try renew(registration) }
        }
        return try removeHubRegistrations(registrations)
    }

    private func renew(_ registration: HubRegistration) throws(StoreError) {
        guard let current = try hubRegistration(registration.id), current.updatedAt < registration.updatedAt else {
            return
        }
        var newer = registration
        newer.version = current.version
        _ = try unlessConflicting { () throws(StoreError) in try putHubRegistration(newer) }
    }
}

extension HubStore {
    /// One after the other.
    package func removeHubRegistrations(_ registrations: [HubRegistration]) throws(StoreError) -> Int {
        var count = 0
        for one in registrations {
            let isRemoved = try unlessConflicting { () throws(StoreError) in
                try removeHubRegistration(one.id, version: one.version)
            }
            if isRemoved == true { count += 1 }
        }
        return count
    }

    /// - Returns: nil, if another writer was there first.
    private func unlessConflicting<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result? {
        do throws(StoreError) {
            return try body()
        } catch {
            guard error == .conflict else { throw error }
            return nil
        }
    }
}
