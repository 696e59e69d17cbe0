// SPDX-License-Identifier: Apache-2.0
package import JSON
package import Text

/// What an owner's mailbox holds: a payload that waits for its owner, of which only the id travels through the push services;
/// or a plain message, kept for the inbox as it was sent.
package struct SecureNotification: Hashable, Sendable {
    /// 1 ... 2^31 - 2, random, unique for its owner. Fits the tutorials' clients, which read a 32-bit integer;
    /// 0 is what junk parses to and 2147483647 is where `intValue` saturates, so neither is ever given out.
    package var id: Int32
    /// 127 random bits in base64url (22 characters, at least one of them not a digit): the same record's second name.
    package var token: String
    /// The user whose it is; no other user learns that it exists.
    package var owner: String
    /// The name of the user who left it, as the owner is shown it; empty where it was not recorded.
    package var sender: String
    /// The message itself; secret. Of a plain message in the form that the backend gives it.
    package var payload: String
    /// Whether it is a plain message, which travels whole.
    package var isPlain: Bool
    /// Whether the owner has fetched it, with `readNotification`.
    package var isRead: Bool
    package var createdAt: Timestamp
    /// Its place among those of one second, by `CreationSequence`; 0: earlier versions have made it.
    package var sequence: Int64
    /// From this moment on it is as if it had never been.
    package var expiresAt: Timestamp

    package init(
        id: Int32, token: String, owner: String, sender: String = "", payload: String, isPlain: Bool = false,
        isRead: Bool, createdAt: Timestamp, sequence: Int64 = 0, expiresAt: Timestamp
    ) {
        self.id = id
        self.token = token
        self.owner = owner
        self.sender = sender
        self.payload = payload
        self.isPlain = isPlain
        self.isRead = isRead
        self.createdAt = createdAt
        self.sequence = sequence
        self.expiresAt = expiresAt
    }
}

/// The owner of a registration id of the hub, and what the owner registered under it.
package struct DeviceRecord: Hashable, Sendable {
    /// The hub's registration id.
    package var id: String
    /// The user whose it is at present.
    package var owner: String
    /// `apns`, `fcm`, `wns`, `mpns`, `browser`; empty between the POST that hands the id out and the first PUT.
    package var platform: String
    /// The push handle; empty as long as the platform is.
    package var handle: String
    /// The tags that the user asked for, without those that the server adds.
    package var tags: [String]
    /// What the app calls its installation: `instId` of the older tutorial's call, `installationId` of an installation, where
    /// it is the alias as well; nil otherwise.
    package var installationID: String?
    /// The id that the device's app uses, where that is another one: of another backend, of a former registration, or of
    /// the phone's former user. It means this record to the owner alone; nil where the app uses `id`.
    package var alias: String?
    /// Whether the hub, or other registrations of the same handle, still have to follow this record. If it is gone: whether the local
    /// hub may still have its registration.
    package var needsReconciliation: Bool
    /// Why the device is not reached any more; nil: nothing says so.
    package var gone: Gone?
    package var updatedAt: Timestamp
    /// Counts the writes as `User.version` does.
    package var version: Int

    package init(
        id: String, owner: String, platform: String = "", handle: String = "", tags: [String] = [],
        installationID: String? = nil, alias: String? = nil, needsReconciliation: Bool = false, gone: Gone? = nil,
        updatedAt: Timestamp, version: Int = 0
    ) {
        self.id = id
        self.owner = owner
        self.platform = platform
        self.handle = handle
        self.tags = tags
        self.installationID = installationID
        self.alias = alias
        self.needsReconciliation = needsReconciliation
        self.gone = gone
        self.updatedAt = updatedAt
        self.version = version
    }

    /// The hub has no registration of the device any more.
    package struct Gone: Hashable, Sendable {
        package var at: Timestamp
        /// The outcome that the push service's answer had, such as `ExpiredChannel`, or the one below. Earlier versions let
        /// clients of the hub's REST face delete users' registrations, and wrote `DeletedAtHub`.
        package var reason: String

        /// A hub that was asked does not know the registration.
        package static let notFound = "NotFound"

        package init(at: Timestamp, reason: String) {
            (self.at, self.reason) = (at, reason)
        }
    }
}

extension DeviceRecord {
    /// Whether its registration at the hub has a template: it is of the older tutorial's call, which knows no alias.
    package var hasTemplate: Bool { installationID != nil && alias == nil }

    /// For how long an id that was handed out waits for its first PUT, in seconds.
    package static let unusedSeconds: Int64 = 86_400

    /// Whether its id was handed out and not used yet. One that is being deleted is empty too, and pending.
    package var isUnused: Bool { platform.isEmpty && !needsReconciliation }

    /// For how long a device that is gone stays in its user's list, in seconds.
    package static let goneSeconds: Int64 = 30 * 86_400

    /// Whether it is gone and was not registered again. A version that knows no gone devices leaves `gone` in a record that
    /// it renews.
    package var isGone: Bool { gone.map { $0.at >= updatedAt } ?? false }

    /// Whether a device is registered under it, as far as is known.
    package var isLive: Bool { !platform.isEmpty && !isGone }

    /// For how long a process that notes that a device is gone may take to remove its registration from the local hub, in seconds.
    package static let removalSeconds: Int64 = 60

    /// Whether a process has noted that it is gone, and has ended before it removed the registration from the local hub.
    package func hasLostRemoval(now: Timestamp) -> Bool {
        guard let gone, isGone, needsReconciliation else { return false }
        return gone.at + Self.removalSeconds <= now
    }

    /// Whether it has waited for its first use for too long, or was gone for too long.
    package func isOverdue(now: Timestamp) -> Bool {
        if let gone, isGone { return !needsReconciliation && gone.at + Self.goneSeconds <= now }
        return isUnused && updatedAt + Self.unusedSeconds <= now
    }
}

/// A registration at the local hub. The store knows what it must find it by; the rest is the hub's.
package struct HubRegistration: Hashable, Sendable {
    /// The hub's registration id.
    package var id: String
    /// The push handle in the one form that the hub compares (upper-case token, normalised URI).
    package var channel: String
    /// Lower-cased, each once.
    package var tags: [String]
    /// The registration description, in the hub's own JSON.
    package var description: JSONValue
    package var updatedAt: Timestamp
    /// The hub's ETag: counts the writes as `User.version` does.
    package var version: Int
    /// Whether the version of this program that has written it knew namespaces, so that its id tells its own.
    package var isNamespaced: Bool

    package init(
        id: String, channel: String, tags: [String], description: JSONValue, updatedAt: Timestamp, version: Int = 0,
        isNamespaced: Bool = true
    ) {
        self.id = id
        self.channel = channel
        self.tags = tags
        self.description = description
        self.updatedAt = updatedAt
        self.version = version
        self.isNamespaced = isNamespaced
    }
}

/// A send that the local hub took: what was sent, to whom, and what became of it.
package struct HubMessage: Hashable, Sendable {
    package var id: String
    /// The owner in whose share it counts while it waits; nil: it is no user's, or an earlier version has written it.
    package var owner: String?
    /// In the hub's own JSON.
    package var document: JSONValue
    package var createdAt: Timestamp
    /// Of a waiting message: it may not be delivered before this moment; nil: it may be at once. It never changes while the
    /// message waits, and stores do not keep it of a message that is done.
    package var notBefore: Timestamp?
    /// From this moment on it is forgotten.
    package var expiresAt: Timestamp

    package init(
        id: String, owner: String? = nil, document: JSONValue, createdAt: Timestamp, notBefore: Timestamp? = nil,
        expiresAt: Timestamp
    ) {
        (self.id, self.owner) = (id, owner)
        self.document = document
        self.createdAt = createdAt
        self.notBefore = notBefore
        self.expiresAt = expiresAt
    }

    /// From when on it may be delivered.
    package var dueAt: Timestamp { notBefore ?? createdAt }
}

/// One page of a long list.
package struct Page<Element: Sendable>: Sendable {
    package var elements: [Element]
    /// Hand it in to get the next page; nil on the last one. Made of `[A-Za-z0-9_-]` only.
    package var next: String?

    package init(elements: [Element], next: String? = nil) {
        self.elements = elements
        self.next = next
    }
}

/// Whether the store works, for `/health`.
package enum StoreHealth: Equatable, Sendable {
    case writable
    /// No space or no inodes are left.
    case full
    case readOnly
    case poisoned
    /// It cannot be asked at this moment: a database that is not there.
    case unavailable

    /// What a write would throw now; nil when it would not.
    package var trouble: StoreError? {
        switch self {
        case .writable: nil
        case .full: .full
        case .readOnly: .readOnly
        case .poisoned: .poisoned
        case .unavailable: .unavailable(detail: "it does not answer")
        }
    }
}

/// A notification without its payload, as lists and quotas see it.
package struct NotificationSummary: Hashable, Sendable {
    package var id: Int32
    package var token: String
    /// Empty where it was not recorded.
    package var sender: String
    package var isPlain: Bool
    package var isRead: Bool
    package var createdAt: Timestamp
    /// As `SecureNotification.sequence`.
    package var sequence: Int64
    package var expiresAt: Timestamp
    /// What it counts against the quotas, in bytes: `SecureNotification.size`.
    package var size: Int

    package init(
        id: Int32, token: String, sender: String, isPlain: Bool = false, isRead: Bool, createdAt: Timestamp,
        sequence: Int64 = 0, expiresAt: Timestamp, size: Int
    ) {
        (self.id, self.token, self.sender, self.isPlain, self.isRead) = (id, token, sender, isPlain, isRead)
        (self.createdAt, self.sequence, self.expiresAt, self.size) = (createdAt, sequence, expiresAt, size)
    }

    /// Whether it was made before the other one; of two of earlier versions that were made in one second, the id decides.
    package func isOlder(than other: NotificationSummary) -> Bool {
        (createdAt, sequence, id) < (other.createdAt, other.sequence, other.id)
    }

    package init(_ notification: SecureNotification, size: Int) {
        self.init(
            id: notification.id, token: notification.token, sender: notification.sender,
            isPlain: notification.isPlain, isRead: notification.isRead, createdAt: notification.createdAt,
            sequence: notification.sequence, expiresAt: notification.expiresAt, size: size)
    }
}

/// An owner's mailbox in short: enough to see whether anything in it has changed.
package struct MailboxState: Hashable, Sendable {
    /// How many were not read.
    package var unread: Int
    /// The same as long as the mailbox is: it becomes another text when a notification comes, is read, is removed or expires.
    /// Letters, digits and `-`; stores make it in ways of their own.
    package var revision: String

    package init(unread: Int, revision: String) {
        (self.unread, self.revision) = (unread, revision)
    }
}
