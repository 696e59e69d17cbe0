// SPDX-License-Identifier: Apache-2.0
import JSON
package import Store
import Support
import Testing
internal import Text

/// What every store must do whose records can be moved: from `source` to `target`, both empty at first. An owner may have
/// 5 notifications in `target`.
package struct TransferContract {
    private let source: any SiteStore
    private let target: any SiteStore

    package init(source: any SiteStore, target: any SiteStore) {
        (self.source, self.target) = (source, target)
    }

    private static let forever = noon + 365 * 86_400

    package func runAll() throws {
        let moved = try fill()
        #expect(Set(try records(of: source)) == Set(moved))
        #expect(try records(of: source).count == moved.count)
        let kept = try target.putUser(User(name: "kept", passwordHash: "the target's own"))
        #expect(try target.putRecords([], now: noon) == 0)
        // The user who is there already is left unchanged.
        #expect(try target.putRecords(moved + moved.prefix(3), now: noon) == moved.count - 1)
        #expect(try target.user("kept") == kept)
        let expected = moved.filter { $0 != .user(User(name: "kept", passwordHash: "moved", version: 1)) }
        #expect(Set(try records(of: target)) == Set(expected + [.user(kept)]))
        #expect(try target.putRecords(moved, now: noon) == 0)
        #expect(try records(of: target).count == moved.count)
        try indexes()
        try versions()
        try order()
        try highestVersions()
        try quotas()
    }

    private func records(of store: any SiteStore) throws -> [StoredRecord] {
        var found: [StoredRecord] = []
        try store.forEachRecord(now: noon) { found.append($0) }
        return found
    }

    // MARK: What is moved

    /// - Returns: what is to be found; more was written, and removed, or has expired.
    private func fill() throws -> [StoredRecord] {
        try users() + notifications() + devices() + sessions() + tokens() + hub()
    }

    private func users() throws -> [StoredRecord] {
        _ = try source.putUser(User(name: "removed", passwordHash: "x"))
        _ = try source.removeUser("removed")
        var changed = try source.putUser(User(name: "changed", passwordHash: "old", tags: []))
        changed.passwordHash = "new \"\\\n"
        var ended = User(name: "ended", passwordHash: "")
        ended.isSecureOnly = true
        ended.roles = ["editor", "\"\\"]
        (ended.disabledAt, ended.expiresAt, ended.credentialEpoch) = (noon, nextDay, 7)
        (ended.generation, ended.removedAt, ended.keepsData, ended.lastSeenAt) = (3, noon, true, noon + -5)
        ended.upkeep = Upkeep(
            cleanings: [
                Cleaning(
                    first: 0, last: 2, walk: Cleaning.Walk(next: 1, begunAt: noon, hasFailed: true),
                    schedule: Schedule(until: noon + 9, dueAt: noon, attempts: 4))
            ],
            review: Schedule(until: noon, dueAt: noon + 1))
        let seen = LastSeen(owner: "id.carol", at: noon + -5)
        try source.noteSeen(seen)
        try source.noteSeen(LastSeen(owner: "id.late", at: noon + -LastSeen.keptSeconds))
        return [
            .lastSeen(seen), .user(try source.putUser(changed)), .user(try source.putUser(ended)),
            .user(try source.putUser(User(name: "kept", passwordHash: "moved"))),
            .user(try source.putUser(User(name: "andr\u{E9}", passwordHash: "one", tags: ["a", "b*"], sendTo: ["*"]))),
            .user(try source.putUser(User(name: "andre\u{301}", passwordHash: "two"))),
        ]
    }

    private func notifications() throws -> [StoredRecord] {
        _ = try source.createNotification(owner: "changed", payload: "late", now: noon + -9, expiresAt: noon)
        let new = try source.createNotification(
            owner: "changed", sender: "kept", payload: "unread \u{1F514}", now: noon, expiresAt: Self.forever)
        var read = try source.createNotification(owner: "changed", payload: "", now: noon, expiresAt: Self.forever)
        _ = try source.readNotification(read.id, owner: "changed", now: noon)
        read.isRead = true
        let plain = try source.createNotification(
            owner: "kept", sender: "kept", payload: "{}", isPlain: true, now: noon, expiresAt: Self.forever)
        return [.notification(new), .notification(read), .notification(plain)]
    }

    private func devices() throws -> [StoredRecord] {
        let removed = try source.putDevice(DeviceRecord(id: "d-removed", owner: "changed", updatedAt: noon))
        _ = try source.removeDevice("d-removed", version: removed.version)
        var device = try source.putDevice(DeviceRecord(id: "d-1", owner: "kept", updatedAt: noon))
        device = DeviceRecord(
            id: "d-1", owner: "changed", platform: "apns", handle: "AB", tags: ["x", "y"], installationID: "i",
            alias: "a", needsReconciliation: true, updatedAt: noon + 5, version: device.version)
        return [.device(try source.putDevice(device))]
    }

    private func sessions() throws -> [StoredRecord] {
        let session = { (id: String, end: Timestamp) in
            Session(id: id, owner: "changed", binding: "b", createdAt: noon + -9, expiresAt: end)
        }
        for id in ["s-1", "s-removed"] { try source.createSession(session(id, Self.forever), now: noon) }
        try source.createSession(session("s-late", noon), now: noon + -9)
        _ = try source.removeSession("s-removed")
        try source.rememberSent(["m-1", "m-2"], owner: "changed", now: noon, expiresAt: nextDay)
        try source.rememberSent(["m-late"], owner: "changed", now: noon + -9, expiresAt: noon)
        let message = SentMessage(
            id: String(repeating: "M", count: 22), owner: "changed", to: "kept", recipient: "kept", sentAt: noon,
            sequence: 3, keptID: 5, outcomes: [.init(platform: "apns", state: "Enqueued", notificationID: "m-1")],
            expiresAt: nextDay
        )
        let opening = MessageOpening(opener: "kept", message: message.id, expiresAt: nextDay)
        try source.rememberSent([], message: message, owner: "changed", now: noon, expiresAt: nextDay)
        for _ in 0..<2 { try source.noteOpening(opening, now: noon) }
        try source.noteOpening(MessageOpening(opener: "late", message: message.id, expiresAt: noon), now: noon + -9)
        let claimed = IdempotentRequest(
            owner: "changed", key: "k-1", fingerprint: "f", createdAt: noon, expiresAt: nextDay)
        var answered = claimed
        answered.key = "k-2"
        for request in [claimed, answered] { _ = try source.claimIdempotencyKey(request, now: noon) }
        answered.answer = KeptAnswer(status: 201, contentType: "application/json", body: "{}")
        try source.keepAnswer(of: answered)
        var delivered = message
        delivered.id = String(repeating: "D", count: 22)
        try source.rememberSent(["m-3", "m-4"], message: delivered, owner: "changed", now: noon, expiresAt: nextDay)
        let sent = ["m-1", "m-2", message.id, "m-3", "m-4"].map { id in
            SentNotification(
                id: id, owner: "changed", message: id == "m-4" ? delivered.id : nil, expiresAt: nextDay)
        }
        return [.session(session("s-1", Self.forever)), .idempotentRequest(claimed), .idempotentRequest(answered)]
            + sent.map { .sent($0) } + [.message(message), .message(delivered), .opening(opening)]
    }

    private func tokens() throws -> [StoredRecord] {
        var token = AppToken(id: "t-1", hash: "h", owner: "changed", epoch: 1, scopes: ["send"], createdAt: noon)
        try source.createAppToken(token, now: noon)
        try source.noteUse(ofAppToken: "t-1", at: noon + 5)
        token.lastUsedAt = noon + 5
        let limited = AppToken(
            id: "t-2", hash: "h", owner: "kept", epoch: 0, scopes: [], recipients: ["changed"], label: "l\n",
            createdAt: noon, expiresAt: nextDay)
        try source.createAppToken(limited, now: noon)
        for (id, end) in [("t-late", noon), ("t-removed", nextDay)] {
            var other = limited
            (other.id, other.expiresAt) = (id, end)
            try source.createAppToken(other, now: noon + -9)
        }
        _ = try source.removeAppToken("t-removed", owner: "kept")
        return [.appToken(token), .appToken(limited)]
    }

    private func hub() throws -> [StoredRecord] {
        let description = JSONValue.object([.init("handle", .string("AB")), .init("n", .number("1.50"))])
        var registration = try source.putHubRegistration(
            HubRegistration(id: "r-1", channel: "old", tags: ["old"], description: .null, updatedAt: noon))
        registration.channel = "AB"
        registration.tags = ["news", "username:changed"]
        registration.description = description
        registration = try source.putHubRegistration(registration)
        let message = HubMessage(id: "m-1", document: .array([.null]), createdAt: noon, expiresAt: nextDay)
        try source.putHubMessage(message)
        let waiting = ["q-1", "q-2", "q-removed"].enumerated().map { index, id in
            HubMessage(id: id, document: .string("text"), createdAt: noon + Int64(index), expiresAt: nextDay)
        }
        for message in waiting { try source.enqueueHubMessage(message) }
        try source.removeQueuedHubMessages(["q-removed"])
        let scheduled = HubMessage(
            id: "q-3", document: .string("later"), createdAt: noon, notBefore: nextDay, expiresAt: nextDay + 86_400)
        try source.enqueueHubMessage(scheduled)
        return [.hubRegistration(registration), .hubMessage(message), .queuedMessage(scheduled)]
            + waiting.prefix(2).map { .queuedMessage($0) }
    }

    // MARK: What can be done with it

    private func indexes() throws {
        #expect(try target.devices(owner: "changed").map(\.id) == ["d-1"])
        #expect(try target.devices(owner: "kept") == [])
        #expect(try target.hubRegistrations(channel: "AB").map(\.id) == ["r-1"])
        #expect(try target.hubRegistrations(channel: "old") == [])
        for tag in ["news", "username:changed"] {
            #expect(try target.hubRegistrations(tag: tag, after: nil, limit: 9).elements.map(\.id) == ["r-1"])
        }
        #expect(
            try target.notifications(owner: "changed", unreadOnly: true, after: nil, limit: 9, now: noon).count == 1)
        #expect(try target.appTokens(owner: "kept", now: noon).map(\.id) == ["t-2"])
        #expect(try target.hasSent("m-2", owner: "changed", now: noon))
        #expect(try target.queuedHubMessages(except: [], limit: 9).map(\.id) == ["q-1", "q-2"])
        let later = try target.dueHubMessages(except: ["q-1", "q-2"], limit: 9, now: nextDay).messages
        #expect(later.map(\.id) == ["q-3"] && later.first?.notBefore == nextDay)
        #expect(try target.removeSessions(owner: "changed") == 1)
        #expect(try target.session("s-1", now: noon) == nil)
    }

    private func versions() throws {
        var user = try #require(try target.user("changed"))
        #expect(user.version == 2)
        user.tags = ["new"]
        #expect(try target.putUser(user).version == 3)
        #expect(throws: StoreError.conflict) { try target.putUser(user) }
        let registration = try #require(try target.hubRegistration("r-1"))
        #expect(try target.putHubRegistration(registration).version == 3)
    }

    /// Those that a line of an export may have are not the last ones.
    private func highestVersions() throws {
        let highest = StoredRecord.maximumVersion
        let records: [StoredRecord] = [
            .user(User(name: "top", passwordHash: "", version: highest)),
            .device(DeviceRecord(id: "d-top", owner: "top", updatedAt: noon, version: highest)),
            .hubRegistration(
                HubRegistration(
                    id: "r-top", channel: "top", tags: [], description: .null, updatedAt: noon, version: highest)),
        ]
        let read = try records.map { record in
            try record.line.withUnsafeBufferPointer { try StoredRecord(line: $0) }
        }
        #expect(read == records)
        #expect(try target.putRecords(read, now: noon) == 3)
        #expect(try target.putUser(#require(try target.user("top"))).version == highest + 1)
        #expect(try target.removeUser("top"))
        #expect(try target.putUser(User(name: "top", passwordHash: "new")).version == highest + 2)
        #expect(try target.putDevice(#require(try target.device("d-top"))).version == highest + 1)
        #expect(try target.putHubRegistration(#require(try target.hubRegistration("r-top"))).version == highest + 1)
    }

    /// Records of earlier versions, which have no sequence, are older than what is made in the same second.
    private func order() throws {
        let former = [2, 8, 5].map { id in
            StoredRecord.notification(
                SecureNotification(
                    id: Int32(id), token: "former-\(id)", owner: "ole", payload: "", isRead: false, createdAt: noon,
                    expiresAt: nextDay))
        }
        #expect(try target.putRecords(former, now: noon) == 3)
        let new = try target.createNotification(owner: "ole", sender: "s", payload: "", now: noon, expiresAt: nextDay)
        let listed = try target.notifications(owner: "ole", unreadOnly: false, after: nil, limit: 9, now: noon)
        #expect(listed.map(\.id) == [new.id, 8, 5, 2])
        #expect(new.sequence > 0)
    }

    private func quotas() throws {
        let many = (1...9).map { index in
            StoredRecord.notification(
                SecureNotification(
                    id: Int32(index), token: "token-\(index)", owner: "max", payload: "p", isRead: false,
                    createdAt: noon, expiresAt: nextDay))
        }
        #expect(try target.putRecords(many, now: noon) == 9)
        let found = try target.notifications(owner: "max", unreadOnly: true, after: nil, limit: 99, now: noon)
        #expect(found.count == 9)
        // Then they count.
        _ = try target.createNotification(owner: "max", sender: "new", payload: "", now: noon, expiresAt: nextDay)
        #expect(try target.wholeNotifications(owner: "max", now: noon).count == 5)
    }
}
