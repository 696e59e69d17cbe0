// SPDX-License-Identifier: Apache-2.0
package import Text

/// What the backend keeps: users, their sessions and app tokens, what their mailboxes hold, who owns which registration, who sent what,
/// and what was answered to requests that must not act twice.
///
/// The boundary is the domain: no file, offset, lock or SQL crosses it. Every call is atomic by itself and there are
/// no transactions over several; the caller passes the time. What a call has written when it returns survives
/// `kill -9` and a loss of power. Several processes may use one store at once and see each other's writes.
/// Every call may throw `busy`, `damaged`, `unavailable`; every write `full`, `readOnly`, `poisoned` as well.
package protocol StateStore: SessionStore, AppTokenStore, SendOwnership, IdempotencyStore, OwnerStore,
    WaitingStore
{
    /// The user of that exact name; nil when there is none, or the user was removed.
    func user(_ name: String) throws(StoreError) -> User?

    /// As `user(_:)`, but also what a removed user has left behind.
    func userRecord(_ name: String) throws(StoreError) -> User?

    /// All users, sorted by name, without those who were removed.
    func users() throws(StoreError) -> [User]

    /// At most `limit` users, removed ones too, whose upkeep is due.
    func usersWithWork(dueBy now: Timestamp, limit: Int) throws(StoreError) -> [User]

    /// Notes when the user was authenticated, if the user is there and of that generation. A hint, which the next loss of
    /// power may take, and no new version.
    func noteSeen(_ user: User, at time: Timestamp) throws(StoreError)

    /// Notes the same of a user without a record, in the place of what was noted before.
    func noteSeen(_ seen: LastSeen) throws(StoreError)

    /// What was noted of an owner without a record; nil when nothing was, or it is forgotten.
    func lastSeen(_ owner: String, now: Timestamp) throws(StoreError) -> LastSeen?

    /// Forgets what was noted of an owner without a record.
    func forgetSeen(_ owner: String) throws(StoreError)

    /// Creates the user (`version` 0) or replaces the one at that version.
    /// - Returns: the user with its new version.
    /// - Throws: `conflict`, when the stored version is another one (0: none).
    func putUser(_ user: User) throws(StoreError) -> User

    /// Removes the record itself, so that the name starts over. A user who has had devices or secrets is removed by
    /// `putUser` with `removedAt` instead.
    /// - Returns: whether there was such a record.
    func removeUser(_ name: String) throws(StoreError) -> Bool

    /// Keeps a payload for its owner, under an id that the store draws at random. Where the owner has as many as one may
    /// have, others of its kind leave for it (`MailboxRoom`).
    /// - Parameter token: nil: the store draws one. No other notification may have it.
    /// - Throws: `shareExceeded`, when the sender has left as much unread with the owner as one sender may; not of a plain one.
    func createNotification(
        token: String?, owner: String, sender: String, payload: String, isPlain: Bool, now: Timestamp,
        expiresAt: Timestamp
    ) throws(StoreError) -> SecureNotification

    /// The owner's notification of that id; nil when it never was, is another owner's, or has expired: all alike.
    func notification(_ id: Int32, owner: String, now: Timestamp) throws(StoreError) -> SecureNotification?

    /// As `notification(_:owner:now:)`, by the notification's token.
    func notification(token: String, owner: String, now: Timestamp) throws(StoreError) -> SecureNotification?

    /// The owner's notifications, newest first (by creation, then by id, descending).
    /// - Parameters:
    ///   - secureOnly: leaves the plain ones out.
    ///   - after: begins behind the notification of this id; one that is gone begins at the front.
    func notifications(
        owner: String, unreadOnly: Bool, secureOnly: Bool, after: Int32?, limit: Int, now: Timestamp
    ) throws(StoreError) -> [NotificationSummary]

    /// The payloads of the owner's notifications of these ids, in one look; without those that were deleted.
    func payloads(of ids: [Int32], owner: String, now: Timestamp) throws(StoreError) -> [Int32: String]

    /// The owner's mailbox in short. Asked again while nothing has changed, it costs no more than `notification(_:owner:now:)`.
    func mailboxState(owner: String, now: Timestamp) throws(StoreError) -> MailboxState

    /// Records that the owner has read it. Doing it again changes nothing and writes nothing.
    /// - Returns: the notification as it was before this call, so that `isRead` tells whether this is the first
    ///   reading; of two callers at once exactly one finds it unread. Nil as for `notification(_:owner:now:)`.
    func readNotification(_ id: Int32, owner: String, now: Timestamp) throws(StoreError) -> SecureNotification?

    /// Removes the owner's notification of that id.
    /// - Returns: false as `notification(_:owner:now:)` returns nil.
    func removeNotification(_ id: Int32, owner: String, now: Timestamp) throws(StoreError) -> Bool

    /// The record of that registration id, under any owner.
    func device(_ id: String) throws(StoreError) -> DeviceRecord?

    /// The owner's devices, sorted by id.
    func devices(owner: String) throws(StoreError) -> [DeviceRecord]

    /// Those of the owner's devices that were called gone and had that handle, sorted by id. It costs as much as it finds.
    func goneDevices(owner: String, handle: String) throws(StoreError) -> [DeviceRecord]

    /// Creates the record (`version` 0) or replaces the one at that version, also under another owner.
    /// - Parameter durably: false for what is no loss: a loss of power, unlike a kill, may take it.
    /// - Returns: the record with its new version.
    /// - Throws: `conflict`, when the stored version is another one; `quotaExceeded`, when a new owner, or the owner of an id that is
    ///   used for the first time, has as many devices as one owner may have (`Quotas.devices(with:)`).
    func putDevice(_ device: DeviceRecord, durably: Bool) throws(StoreError) -> DeviceRecord

    /// Removes the record at that version.
    /// - Returns: false when there is none; - Throws: `conflict`, when it is at another version.
    func removeDevice(_ id: String, version: Int) throws(StoreError) -> Bool

    /// Removes the record at that version while `successor` is there at its own: one step, so that of several records that
    /// are removed in favor of each other at the same moment, by whatever process, one is left.
    /// - Returns: false when there is none; - Throws: `conflict`, when either is at another version, or the successor is gone.
    func removeDevice(_ id: String, version: Int, inFavorOf successor: DeviceRecord) throws(StoreError) -> Bool

    /// What the store is able to do at this moment; for `/health`. It tries a write that leaves nothing behind.
    func health() -> StoreHealth
}

extension StateStore {
    /// As above, with a token that the store draws.
    package func createNotification(
        owner: String, sender: String, payload: String, isPlain: Bool = false, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) -> SecureNotification {
        try createNotification(
            token: nil, owner: owner, sender: sender, payload: payload, isPlain: isPlain, now: now,
            expiresAt: expiresAt)
    }

    /// Those of both kinds.
    package func notifications(
        owner: String, unreadOnly: Bool, after: Int32?, limit: Int, now: Timestamp
    ) throws(StoreError) -> [NotificationSummary] {
        try notifications(
            owner: owner, unreadOnly: unreadOnly, secureOnly: false, after: after, limit: limit, now: now)
    }

    /// For a store that answers for all devices of an owner at once.
    package func goneDevices(owner: String, handle: String) throws(StoreError) -> [DeviceRecord] {
        try devices(owner: owner).filter { $0.isGone && $0.handle.hasSameBytes(as: handle) }
    }

    package func putDevice(_ device: DeviceRecord) throws(StoreError) -> DeviceRecord {
        try putDevice(device, durably: true)
    }
}

/// What the local hub keeps: registrations, found by id, channel and tag, and the sends it took.
///
/// The rules of `StateStore` hold. The cost of finding by channel or tag depends on what is found, not on how many
/// registrations there are.
package protocol HubStore: Sendable {
    /// The registration of that id; nil when there is none.
    func hubRegistration(_ id: String) throws(StoreError) -> HubRegistration?

    /// Creates the registration (`version` 0) or replaces the one at that version.
    /// - Throws: `conflict`, when the stored version is another one (0: none).
    func putHubRegistration(_ registration: HubRegistration) throws(StoreError) -> HubRegistration

    /// Removes the registration, whatever its version when `version` is nil.
    /// - Returns: false when there is none; - Throws: `conflict`, when it is at another version.
    func removeHubRegistration(_ id: String, version: Int?) throws(StoreError) -> Bool

    /// Removes those of the registrations that are still at their versions.
    /// - Returns: how many.
    func removeHubRegistrations(_ registrations: [HubRegistration]) throws(StoreError) -> Int

    /// Every registration of that channel, sorted by id.
    func hubRegistrations(channel: String) throws(StoreError) -> [HubRegistration]

    /// Every registration that has that tag (lower-cased), in pages sorted by id. Each page costs a look at the ids of
    /// all of them; who wants all takes `forEachHubRegistration(tag:_:)`.
    func hubRegistrations(tag: String, after: String?, limit: Int) throws(StoreError) -> Page<HubRegistration>

    /// Calls `body` with every registration that has that tag (lower-cased), in no order of meaning and none twice.
    func forEachHubRegistration(tag: String, _ body: (HubRegistration) -> Void) throws(StoreError)

    /// Whether any registration that has that tag (lower-cased) is one that is looked for. Where the first ones are, it costs no
    /// look at all of them.
    func hasHubRegistration(tag: String, where isWanted: (HubRegistration) -> Bool) throws(StoreError) -> Bool

    /// About how many registrations have that tag (lower-cased), to choose the rarer of two; no more than the limit.
    func hubRegistrationCount(tag: String, limit: Int) throws(StoreError) -> Int

    /// Every registration of that namespace, in pages, in no order of meaning; none twice, also while others write.
    /// - Parameter namespace: nil: of both.
    /// - Throws: `invalidContinuationToken`, when `after` is not the `next` of an earlier page.
    func hubRegistrations(
        in namespace: HubNamespace?, after: String?, limit: Int
    ) throws(StoreError) -> Page<HubRegistration>

    /// Creates or replaces the message of that id. It tells what became of a send, which is not worth a flush of its
    /// own: a loss of power, unlike a kill, may take the last seconds of it.
    func putHubMessage(_ message: HubMessage) throws(StoreError)

    /// The message of that id; nil when it never was or has expired.
    func hubMessage(_ id: String, now: Timestamp) throws(StoreError) -> HubMessage?
}

extension HubStore {
    /// Every registration of both namespaces.
    package func hubRegistrations(after: String?, limit: Int) throws(StoreError) -> Page<HubRegistration> {
        try hubRegistrations(in: nil, after: after, limit: limit)
    }

    package func hubRegistrationCount(tag: String, limit: Int) throws(StoreError) -> Int {
        try hubRegistrations(tag: tag, after: nil, limit: limit).elements.count
    }

    /// Each page of a tag's registrations costs a look at the ids of all of them, so only two are asked for.
    package func hasHubRegistration(
        tag: String, where isWanted: (HubRegistration) -> Bool
    ) throws(StoreError) -> Bool {
        var after: String?
        for limit in [1, 500] {
            let page = try hubRegistrations(tag: tag, after: after, limit: limit)
            if page.elements.contains(where: isWanted) { return true }
            guard let next = page.next else { return false }
            after = next
        }
        var isFound = false
        try forEachHubRegistration(tag: tag) { isFound = isFound || isWanted($0) }
        return isFound
    }
}
