// SPDX-License-Identifier: Apache-2.0

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

    /// A registration of the backend's namespace in the one of the served hub.
    ///
    /// Versions of this program that knew one namespace kept all registrations in the backend's. Of these the ones without a
    /// `DeviceRecord` were made with keys of the served hub: the backend makes that record first and removes it last.
    package var movedToServed: HubRegistration {
        guard namespace == .backend else { return self }
        var moved = self
        (moved.id, moved.channel) = (HubNamespace.served.stored(id), HubNamespace.served.stored(channel))
        moved.tags = tags.map(HubNamespace.served.stored)
        return moved
    }
}

extension StateStore {
    /// A record of an export, with a registration in its namespace: the version that has written the export may have known one.
    /// The devices must be in the store before.
    package func inItsNamespace(_ record: StoredRecord) throws(StoreError) -> StoredRecord {
        guard case .hubRegistration(let registration) = record, registration.namespace == .backend,
            try device(registration.id) == nil
        else { return record }
        return .hubRegistration(registration.movedToServed)
    }
}
