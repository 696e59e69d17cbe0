// SPDX-License-Identifier: Apache-2.0
import Store
import Synchronization
import Text

/// A store with one trouble: every call but those about users throws it, or `health` tells of it.
struct TroubledStore: StateStore {
    let inner: any StateStore
    var error: StoreError?
    /// Thrown by what is written about a request after it was carried out.
    var errorAfterwards: StoreError?
    /// Thrown where it is noted that a user was seen.
    var errorOfSeen: StoreError?
    var reportedHealth = StoreHealth.writable
    /// Counts every call but those about users.
    var calls: CallCount?
    /// Counts looks at all devices of an owner.
    var deviceLists: CallCount?
    /// Counts calls of `health`.
    var looks: CallCount?
    /// Counts those that throw `errorOfSeen`.
    var notes: CallCount?
    /// Runs before a user's app tokens are removed.
    var onTokenRemoval: (@Sendable () -> Void)?
    /// Notes whose records are read.
    var userReads: UserReads?

    private func fail() throws(StoreError) {
        calls?.number.add(1, ordering: .relaxed)
        if let error { throw error }
    }

    private func failToNote() throws(StoreError) {
        guard let errorOfSeen else { return }
        notes?.number.add(1, ordering: .relaxed)
        throw errorOfSeen
    }

    private func noted(_ name: String) -> String {
        userReads?.note(name)
        return name
    }

    func user(_ name: String) throws(StoreError) -> User? { try inner.user(noted(name)) }

    func userRecord(_ name: String) throws(StoreError) -> User? { try inner.userRecord(noted(name)) }

    func users() throws(StoreError) -> [User] { try inner.users() }

    func usersWithWork(dueBy now: Timestamp, limit: Int) throws(StoreError) -> [User] {
        try inner.usersWithWork(dueBy: now, limit: limit)
    }

    func noteSeen(_ user: User, at time: Timestamp) throws(StoreError) {
        try failToNote()
        try inner.noteSeen(user, at: time)
    }

    func noteSeen(_ seen: LastSeen) throws(StoreError) {
        try failToNote()
        try inner.noteSeen(seen)
    }

    func lastSeen(_ owner: String, now: Timestamp) throws(StoreError) -> LastSeen? {
        try inner.lastSeen(owner, now: now)
    }

    func forgetSeen(_ owner: String) throws(StoreError) { try inner.forgetSeen(owner) }

    func putUser(_ user: User) throws(StoreError) -> User { try inner.putUser(user) }

    func removeUser(_ name: String) throws(StoreError) -> Bool { try inner.removeUser(name) }

    func createNotification(
        token: String?, owner: String, sender: String, payload: String, isPlain: Bool, now: Timestamp,
        expiresAt: Timestamp
    ) throws(StoreError) -> SecureNotification {
        try fail()
        return try inner.createNotification(
            token: token, owner: owner, sender: sender, payload: payload, isPlain: isPlain, now: now,
            expiresAt: expiresAt)
    }

    func putWaiting(_ entries: [HubMessage], in list: WaitingList) throws(StoreError) {
        try fail()
        try inner.putWaiting(entries, in: list)
    }

    func waiting(in list: WaitingList, except ids: Set<String>) throws(StoreError) -> [HubMessage] {
        try fail()
        return try inner.waiting(in: list, except: ids)
    }

    func waiting(in list: WaitingList, of owner: String) throws(StoreError) -> [HubMessage] {
        try fail()
        return try inner.waiting(in: list, of: owner)
    }

    func waitingEntry(_ id: String, in list: WaitingList) throws(StoreError) -> HubMessage? {
        try fail()
        return try inner.waitingEntry(id, in: list)
    }

    func removeWaiting(_ ids: [String], from list: WaitingList) throws(StoreError) {
        try fail()
        try inner.removeWaiting(ids, from: list)
    }

    func changeWaiting(
        _ entry: HubMessage, to new: HubMessage?, in list: WaitingList
    ) throws(StoreError) -> Bool {
        try fail()
        return try inner.changeWaiting(entry, to: new, in: list)
    }

    func acquireLease(of list: WaitingList) throws(StoreError) -> DeliveryLease? {
        try fail()
        return try inner.acquireLease(of: list)
    }

    func removeNotification(_ id: Int32, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        try fail()
        return try inner.removeNotification(id, owner: owner, now: now)
    }

    func notification(_ id: Int32, owner: String, now: Timestamp) throws(StoreError) -> SecureNotification? {
        try fail()
        return try inner.notification(id, owner: owner, now: now)
    }

    func notification(token: String, owner: String, now: Timestamp) throws(StoreError) -> SecureNotification? {
        try fail()
        return try inner.notification(token: token, owner: owner, now: now)
    }

    func notifications(
        owner: String, unreadOnly: Bool, secureOnly: Bool, after: Int32?, limit: Int, now: Timestamp
    ) throws(StoreError) -> [NotificationSummary] {
        try fail()
        return try inner.notifications(
            owner: owner, unreadOnly: unreadOnly, secureOnly: secureOnly, after: after, limit: limit, now: now)
    }

    func payloads(of ids: [Int32], owner: String, now: Timestamp) throws(StoreError) -> [Int32: String] {
        try fail()
        return try inner.payloads(of: ids, owner: owner, now: now)
    }

    func mailboxState(owner: String, now: Timestamp) throws(StoreError) -> MailboxState {
        try fail()
        return try inner.mailboxState(owner: owner, now: now)
    }

    func readNotification(_ id: Int32, owner: String, now: Timestamp) throws(StoreError) -> SecureNotification? {
        try fail()
        return try inner.readNotification(id, owner: owner, now: now)
    }

    func device(_ id: String) throws(StoreError) -> DeviceRecord? {
        try fail()
        return try inner.device(id)
    }

    func goneDevices(owner: String, handle: String) throws(StoreError) -> [DeviceRecord] {
        try fail()
        return try inner.goneDevices(owner: owner, handle: handle)
    }

    func devices(owner: String) throws(StoreError) -> [DeviceRecord] {
        deviceLists?.number.add(1, ordering: .relaxed)
        try fail()
        return try inner.devices(owner: owner)
    }

    func putDevice(_ device: DeviceRecord, durably: Bool) throws(StoreError) -> DeviceRecord {
        try fail()
        return try inner.putDevice(device, durably: durably)
    }

    func removeDevice(_ id: String, version: Int) throws(StoreError) -> Bool {
        try fail()
        return try inner.removeDevice(id, version: version)
    }

    func removeDevice(_ id: String, version: Int, inFavorOf successor: DeviceRecord) throws(StoreError) -> Bool {
        try fail()
        return try inner.removeDevice(id, version: version, inFavorOf: successor)
    }

    func createSession(_ session: Session, now: Timestamp) throws(StoreError) {
        try fail()
        try inner.createSession(session, now: now)
    }

    func session(_ id: String, now: Timestamp) throws(StoreError) -> Session? {
        try fail()
        return try inner.session(id, now: now)
    }

    func sessions(owner: String, now: Timestamp) throws(StoreError) -> [Session] {
        try fail()
        return try inner.sessions(owner: owner, now: now)
    }

    func removeSession(_ id: String) throws(StoreError) -> Bool {
        try fail()
        return try inner.removeSession(id)
    }

    func removeSessions(owner: String) throws(StoreError) -> Int {
        try fail()
        return try inner.removeSessions(owner: owner)
    }

    func createAppToken(_ token: AppToken, now: Timestamp) throws(StoreError) {
        try fail()
        try inner.createAppToken(token, now: now)
    }

    func appToken(_ id: String, now: Timestamp) throws(StoreError) -> AppToken? {
        try fail()
        return try inner.appToken(id, now: now)
    }

    func appTokens(owner: String, now: Timestamp) throws(StoreError) -> [AppToken] {
        try fail()
        return try inner.appTokens(owner: owner, now: now)
    }

    func noteUse(ofAppToken id: String, at time: Timestamp) throws(StoreError) {
        try fail()
        try inner.noteUse(ofAppToken: id, at: time)
    }

    func bindRecipients(ofAppToken id: String, to owners: [String]) throws(StoreError) {
        try fail()
        try inner.bindRecipients(ofAppToken: id, to: owners)
    }

    func removeAppToken(_ id: String, owner: String) throws(StoreError) -> Bool {
        try fail()
        return try inner.removeAppToken(id, owner: owner)
    }

    func removeAppTokens(owner: String, before epoch: Int) throws(StoreError) -> Int {
        try fail()
        onTokenRemoval?()
        return try inner.removeAppTokens(owner: owner, before: epoch)
    }

    func rememberSent(
        _ ids: [String], message: SentMessage?, owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) {
        try fail()
        try inner.rememberSent(ids, message: message, owner: owner, now: now, expiresAt: expiresAt)
    }

    func hasSent(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        try fail()
        return try inner.hasSent(id, owner: owner, now: now)
    }

    func sentMessage(_ id: String, now: Timestamp) throws(StoreError) -> SentMessage? {
        try fail()
        return try inner.sentMessage(id, now: now)
    }

    func sentMessages(
        owner: String?, behind place: SentMessage.Place?, limit: Int, now: Timestamp,
        where isWanted: (SentMessage) -> Bool
    ) throws(StoreError) -> [SentMessage] {
        try fail()
        return try inner.sentMessages(owner: owner, behind: place, limit: limit, now: now, where: isWanted)
    }

    func noteOpening(_ opening: MessageOpening, now: Timestamp) throws(StoreError) -> Bool {
        try fail()
        return try inner.noteOpening(opening, now: now)
    }

    func openings(ofMessage id: String, now: Timestamp) throws(StoreError) -> Int {
        try fail()
        return try inner.openings(ofMessage: id, now: now)
    }

    func claimIdempotencyKey(
        _ request: IdempotentRequest, now: Timestamp
    ) throws(StoreError) -> IdempotentRequest? {
        try fail()
        return try inner.claimIdempotencyKey(request, now: now)
    }

    func keepAnswer(of request: IdempotentRequest) throws(StoreError) {
        try fail()
        if let errorAfterwards { throw errorAfterwards }
        try inner.keepAnswer(of: request)
    }

    func releaseIdempotencyKey(_ key: String, owner: String) throws(StoreError) {
        try fail()
        if let errorAfterwards { throw errorAfterwards }
        try inner.releaseIdempotencyKey(key, owner: owner)
    }

    func holdings(of owner: String, now: Timestamp) throws(StoreError) -> Holdings {
        try fail()
        return try inner.holdings(of: owner, now: now)
    }

    func removeNotifications(owner: String) throws(StoreError) -> Int {
        try fail()
        return try inner.removeNotifications(owner: owner)
    }

    func forgetSent(owner: String) throws(StoreError) -> Int {
        try fail()
        return try inner.forgetSent(owner: owner)
    }

    func removeIdempotencyKeys(owner: String) throws(StoreError) -> Int {
        try fail()
        return try inner.removeIdempotencyKeys(owner: owner)
    }

    func health() -> StoreHealth {
        looks?.number.add(1, ordering: .relaxed)
        return reportedHealth
    }
}
