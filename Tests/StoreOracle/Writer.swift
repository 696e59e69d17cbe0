// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON
import Store
import Text

/// One writer that creates, changes and removes records of every kind, so that files are compacted and split all the
/// time. All writers share owners, tags and channels, so that they meet in the same files; keys are each one's own.
struct Writer: Sendable {
    struct Plan: Sendable {
        let owners: Int
        let isTolerant: Bool
        let isUnreliable: Bool
        let keepsTime: Bool
    }

    /// Within what no clock of these tests is set to.
    private static let lifetime: Int64 = 20 * 365 * 86_400
    static let fixedTime = Timestamp(seconds: 1_800_000_000)
    private static let channels = 40
    /// Buckets that are swept in a step of the first thread.
    private static let sweepBudget = 4
    /// Before a refused writer goes on, in microseconds.
    private static let pause: UInt32 = 2_000

    let store: any SiteStore
    let journal: Journal
    /// Begins all keys.
    let name: String
    let plan: Plan

    private var now: Timestamp { plan.keepsTime ? Timestamp(seconds: Int64(time(nil))) : Self.fixedTime }
    private func owner(_ index: Int) -> String { "owner-\(index % plan.owners)" }
    private func tag(_ index: Int) -> String { "tag-\(index % plan.owners)" }

    /// A step that is broken off because the store cannot be reached is not gone on with: the next one is begun.
    func step(_ index: Int) throws(StoreError) {
        do throws(StoreError) {
            try change(index)
        } catch {
            guard plan.isUnreliable, error.isUnknown else { throw error }
            journal.note(.remark, "unavailable")
            usleep(Self.pause)
        }
    }

    private func change(_ index: Int) throws(StoreError) {
        try notifications(index)
        try registrations(index)
        try devices(index)
        try sessions(index)
        try users(index)
        try messages(index)
        try requests(index)
        if name.hasSuffix("-0") {
            _ = try tolerating { () throws(StoreError) in try store.sweep(budget: Self.sweepBudget, now: now) }
        }
    }

    private func notifications(_ index: Int) throws(StoreError) {
        let key = "\(name)-n\(index)"
        let owner = owner(index)
        let payload = Content.payload(of: key, length: 1 + index % 9)
        let made = try attempt(.notification, key, becomes: "\(owner):unread") { () throws(StoreError) in
            try store.createNotification(
                owner: owner, sender: "", payload: payload, now: now, expiresAt: now + Self.lifetime)
        }
        guard let made else { return }
        journal.note(.remark, "id", key, String(made.id))
        guard index % 2 == 0 else { return }
        _ = try attempt(.notification, key, becomes: "\(owner):read") { () throws(StoreError) in
            try found(store.readNotification(made.id, owner: owner, now: now), key)
        }
    }

    private func registrations(_ index: Int) throws(StoreError) {
        try put("\(name)-r\(index)", channel: index, tags: [tag(index), tag(index + 5)], revision: 0)
        try put("\(name)-r\(index - 3)", channel: index - 3, tags: [tag(index + 1)], revision: 1)
        let old = "\(name)-r\(index - 9)"
        guard index % 3 == 0, try store.hubRegistration(old) != nil else { return }
        _ = try attempt(.registration, old, becomes: Journal.absent) { () throws(StoreError) in
            try store.removeHubRegistration(old, version: nil)
        }
    }

    /// Creates it (revision 0), or replaces the one that is there.
    private func put(_ id: String, channel: Int, tags: [String], revision: Int) throws(StoreError) {
        let present = try store.hubRegistration(id)
        guard (present != nil) == (revision > 0) else { return }
        let new = HubRegistration(
            id: id, channel: "channel-\(channel % Self.channels)", tags: Array(Set(tags)).sorted(),
            description: Content.document(revision), updatedAt: now, version: present?.version ?? 0)
        _ = try attempt(.registration, id, becomes: Content.state(of: new)) { () throws(StoreError) in
            try store.putHubRegistration(new)
        }
    }

    private func devices(_ index: Int) throws(StoreError) {
        let new = DeviceRecord(
            id: "\(name)-d\(index)", owner: owner(index), handle: Content.payload(of: "0", length: 9), updatedAt: now)
        _ = try attempt(.device, new.id, becomes: Content.state(of: new)) { () throws(StoreError) in
            try store.putDevice(new)
        }
        guard var old = try store.device("\(name)-d\(index - 4)") else { return }
        old.owner = owner(index + 7)
        old.handle = "1"
        let moved = try attempt(.device, old.id, becomes: Content.state(of: old)) { () throws(StoreError) in
            try store.putDevice(old)
        }
        guard index % 4 == 0, let moved else { return }
        _ = try attempt(.device, old.id, becomes: Journal.absent) { () throws(StoreError) in
            try store.removeDevice(moved.id, version: moved.version)
        }
    }

    private func sessions(_ index: Int) throws(StoreError) {
        let session = Session(
            id: "\(name)-s\(index)", owner: owner(index), binding: "binding", createdAt: now,
            expiresAt: now + Self.lifetime)
        _ = try attempt(.session, session.id, becomes: session.owner) { () throws(StoreError) in
            try store.createSession(session, now: now)
        }
        let old = "\(name)-s\(index - 7)"
        guard try store.session(old, now: now) != nil else { return }
        _ = try attempt(.session, old, becomes: Journal.absent) { () throws(StoreError) in try store.removeSession(old)
        }
    }

    private func users(_ index: Int) throws(StoreError) {
        let key = "\(name)-u\(index % 15)"
        let present = try store.user(key)
        if index % 15 == 4, present != nil {
            _ = try attempt(.user, key, becomes: Journal.absent) { () throws(StoreError) in try store.removeUser(key) }
            return
        }
        let new = User(name: key, passwordHash: "hash-\(index)", version: present?.version ?? 0)
        _ = try attempt(.user, key, becomes: new.passwordHash) { () throws(StoreError) in try store.putUser(new) }
    }

    private func messages(_ index: Int) throws(StoreError) {
        let new = message(index, revision: 0)
        _ = try attempt(.message, new.id, becomes: Content.state(of: new)) { () throws(StoreError) in
            try store.enqueueHubMessage(new)
        }
        let told = message(index - 2, revision: 1)
        if try isDue(told) {
            _ = try attempt(.message, told.id, becomes: Content.state(of: told)) { () throws(StoreError) in
                try store.updateQueuedHubMessages([told])
            }
        }
        let done = message(index - 5, revision: 1)
        guard try store.queuedHubMessage(done.id, notBefore: done.notBefore) != nil else { return }
        _ = try attempt(.message, done.id, becomes: Journal.absent, isHint: true) { () throws(StoreError) in
            try store.removeQueuedHubMessages([done])
        }
    }

    /// Whether it waits, and is among those that a look at the end of all times finds.
    private func isDue(_ message: HubMessage) throws(StoreError) -> Bool {
        guard try store.queuedHubMessage(message.id, notBefore: message.notBefore) != nil else { return false }
        guard message.notBefore != nil else { return true }
        let due = try store.dueHubMessages(except: [], limit: .max, now: now + Self.lifetime)
        guard due.messages.count(where: { $0.id == message.id }) == 1 else {
            throw .damaged(detail: "\(message.id) waits and is not due once")
        }
        return true
    }

    private func message(_ index: Int, revision: Int) -> HubMessage {
        let id = "\(name)-m\(index)"
        return HubMessage(
            id: id, document: Content.document(revision), createdAt: now,
            notBefore: Content.notBefore(ofMessage: id), expiresAt: now + Self.lifetime)
    }

    private func requests(_ index: Int) throws(StoreError) {
        var request = IdempotentRequest(
            owner: owner(index), key: "\(name)-k\(index)", fingerprint: "f", createdAt: now,
            expiresAt: now + Self.lifetime)
        let claimed = try attempt(.request, request.key, becomes: Content.state(of: request)) { () throws(StoreError) in
            try store.claimIdempotencyKey(request, now: now) == nil
        }
        guard let claimed else { return }
        guard claimed else { throw .damaged(detail: "\(request.key) has been claimed by nobody and is taken") }
        if index % 3 == 0 {
            _ = try attempt(.request, request.key, becomes: Journal.absent) { () throws(StoreError) in
                try store.releaseIdempotencyKey(request.key, owner: request.owner)
            }
            return
        }
        request.answer = KeptAnswer(
            status: 200, contentType: "text/plain", body: Content.payload(of: request.key, length: 3))
        _ = try attempt(.request, request.key, becomes: Content.state(of: request)) { () throws(StoreError) in
            try store.keepAnswer(of: request)
        }
    }

    // MARK: Telling

    /// Tells what is about to become of the record, does it, and tells what was promised.
    /// - Returns: nil, when it was refused.
    private func attempt<Outcome>(
        _ kind: Kind, _ key: String, becomes state: String, isHint: Bool = false,
        _ body: () throws(StoreError) -> Outcome
    ) throws(StoreError) -> Outcome? {
        journal.note(.intent, kind.rawValue, key, state)
        let outcome = try tolerating(body)
        let mark: Journal.Mark = outcome == nil ? .refusal : isHint ? .hint : .promise
        journal.note(mark, kind.rawValue, key, state)
        return outcome
    }

    private func tolerating<Outcome>(_ body: () throws(StoreError) -> Outcome) throws(StoreError) -> Outcome? {
        do throws(StoreError) {
            return try body()
        } catch {
            guard plan.isTolerant, error.isRefusal else { throw error }
            usleep(Self.pause)
            return nil
        }
    }

    /// What was made a moment ago must be there.
    private func found<Record>(_ record: Record?, _ key: String) throws(StoreError) -> Record {
        guard let record else { throw .damaged(detail: "\(key) was promised and is not found") }
        return record
    }
}

extension StoreError {
    /// Whether what was asked for may have been done, and what was begun is all that can be said of it.
    fileprivate var isUnknown: Bool {
        if case .unavailable = self { true } else { false }
    }

    /// Whether it may work another time.
    fileprivate var isRefusal: Bool {
        switch self {
        case .full, .readOnly, .busy: true
        default: false
        }
    }
}
