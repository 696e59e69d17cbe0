// SPDX-License-Identifier: Apache-2.0
package import Store
import Support
import Testing
internal import Text

/// What every store must do with every field of every record: keep it. The records are those of `RecordSample`.
package enum FieldContract {
    /// The samples say of each kind, and of each field, whether a store keeps it.
    package static func samples() {
        #expect(RecordSample.all.flatMap(\.untried) == [])
        #expect(StoredRecord.tables.symmetricDifference(RecordSample.all.map(\.full.table)) == [])
    }

    /// What comes from another store.
    package static func transfer(to store: any SiteStore) throws {
        let records = RecordSample.all.flatMap { [$0.full, $0.bare] }
        #expect(try store.putRecords(records, now: noon) == records.count)
        #expect(try left(out: records, of: store) == [])
    }

    /// What comes by the calls of each kind.
    package static func calls(of store: any SiteStore) throws {
        try users(store)
        try notifications(store)
        try devices(store)
        try sessions(store)
        try sends(store)
        try keys(store)
        try tokens(store)
        try hub(store)
        try queue(store)
        for list in WaitingList.allCases {
            let entry = RecordSample.waiting("entry")
            try store.putWaiting([entry], in: list)
            #expect(try store.waiting(in: list) == [entry])
        }
        // No call reads these one by one.
        let sent = SentNotification(
            id: "sent", owner: "alice", message: RecordSample.message.id, expiresAt: RecordSample.message.expiresAt)
        let opening = MessageOpening(opener: "bob", message: RecordSample.message.id, expiresAt: nextDay)
        _ = try store.noteOpening(opening, now: noon)
        #expect(try left(out: [.sent(sent), .opening(opening)], of: store) == [])
    }

    private static func left(out records: [StoredRecord], of store: any SiteStore) throws -> Set<StoredRecord> {
        var found: Set<StoredRecord> = []
        try store.forEachRecord(now: noon) { found.insert($0) }
        return Set(records).subtracting(found)
    }

    // MARK: Each kind

    private static func users(_ store: any StateStore) throws {
        var user = RecordSample.user
        user.version = 0
        user = try store.putUser(user)
        #expect(try store.userRecord(user.name) == user)
        user.tags = ["other"]
        user = try store.putUser(user)
        var expected = RecordSample.user
        (expected.tags, expected.version) = (["other"], user.version)
        #expect(try store.userRecord(user.name) == expected)
        let seen = LastSeen(owner: "id.alice", at: noon)
        try store.noteSeen(seen)
        #expect(try store.lastSeen(seen.owner, now: noon) == seen)
    }

    private static func notifications(_ store: any StateStore) throws {
        var expected = RecordSample.notification
        let made = try store.createNotification(
            owner: expected.owner, sender: expected.sender, payload: expected.payload, isPlain: expected.isPlain,
            now: expected.createdAt, expiresAt: expected.expiresAt)
        #expect(made.sequence > 0)
        _ = try store.readNotification(made.id, owner: made.owner, now: noon)
        (expected.id, expected.token, expected.sequence) = (made.id, made.token, made.sequence)
        #expect(try store.notification(made.id, owner: made.owner, now: noon) == expected)
    }

    private static func devices(_ store: any StateStore) throws {
        var device = RecordSample.device
        device.version = 0
        device = try store.putDevice(device)
        #expect(try store.device(device.id) == device)
        device = try store.putDevice(device)
        var expected = RecordSample.device
        expected.version = device.version
        #expect(try store.devices(owner: device.owner) == [expected])
    }

    package static func sessions(_ store: any SessionStore) throws {
        let session = RecordSample.session
        try store.createSession(session, now: noon)
        #expect(try store.session(session.id, now: noon) == session)
        #expect(try store.sessions(owner: session.owner, now: noon) == [session])
    }

    package static func sends(_ store: any SendOwnership) throws {
        let message = RecordSample.message
        try store.rememberSent(
            ["sent"], message: message, owner: message.owner, now: noon, expiresAt: message.expiresAt)
        #expect(try store.sentMessage(message.id, now: noon) == message)
        #expect(try store.sentMessages(owner: message.owner, limit: 9, now: noon) == [message])
    }

    package static func keys(_ store: any IdempotencyStore) throws {
        let request = RecordSample.request
        var claim = request
        claim.answer = nil
        #expect(try store.claimIdempotencyKey(claim, now: noon) == nil)
        #expect(try store.claimIdempotencyKey(claim, now: noon) == claim)
        try store.keepAnswer(of: request)
        #expect(try store.claimIdempotencyKey(claim, now: noon) == request)
    }

    private static func tokens(_ store: any AppTokenStore) throws {
        let token = RecordSample.token
        try store.createAppToken(token, now: noon)
        #expect(try store.appToken(token.id, now: noon) == token)
        #expect(try store.appTokens(owner: token.owner, now: noon) == [token])
    }

    package static func hub(_ store: any HubStore) throws {
        var registration = RecordSample.registration
        registration.version = 0
        registration = try store.putHubRegistration(registration)
        #expect(try store.hubRegistration(registration.id) == registration)
        registration = try store.putHubRegistration(registration)
        var expected = RecordSample.registration
        expected.version = registration.version
        #expect(try store.hubRegistrations(channel: registration.channel) == [expected])
        let message = RecordSample.waiting("done")
        try store.putHubMessage(message)
        #expect(try store.hubMessage(message.id, now: noon) == message)
    }

    package static func queue(_ store: any HubQueue) throws {
        let (queued, scheduled) = (RecordSample.waiting("queued"), RecordSample.scheduled)
        for message in [queued, scheduled] { try store.enqueueHubMessage(message) }
        #expect(try store.dueHubMessages(except: [], limit: 9, now: noon).messages == [queued])
        #expect(try store.dueHubMessages(except: ["queued"], limit: 9, now: nextDay + -1).messages == [scheduled])
        try store.updateQueuedHubMessages([queued])
        #expect(try store.dueHubMessages(except: ["scheduled"], limit: 9, now: noon).messages == [queued])
    }
}
