// SPDX-License-Identifier: Apache-2.0
import Dispatch
import JSON
import Store
import StoreContract
import Support
import Testing
import Text

@testable import PostgresStore

@Suite struct `The schema of the database` {
    /// A role of the test's own, which may do nothing yet.
    /// - Returns: its name, and the database's URL for it.
    private func makeRole(_ site: Site) throws -> (name: String, url: String) {
        let name = try "role_of_" + site.run("SELECT current_database()")
        try site.run("CREATE ROLE \(name) LOGIN")
        return (name, site.url.replacing("app@", with: name + "@"))
    }

    @Test func `it is made by a command, and found by the store`() throws {
        let site = try Site(isMigrated: false)
        #expect(Site.refusal(site.url).contains("app-backend store migrate"))
        #expect(try PostgresSiteStore.migrate(url: site.url).before == 0)
        _ = try site.open()
        let again = try PostgresSiteStore.migrate(url: site.url)
        #expect(again.before == again.after)
        #expect(try site.run("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "0")
    }

    @Test func `what the version before has written is read, and counts`() throws {
        let site = try Site()
        try site.run(
            """
            INSERT INTO app_backend.notifications (owner, id, token, payload, is_read, created_at, expires_at)
            SELECT 'bob', number, ('AAAAAAAAAAAAAAAAAAAA-' || number)::bytea, repeat('x', 1000)::bytea, false, 1, 9999999999
            FROM generate_series(1, 9) AS numbers (number)
            """)
        let store = try site.open { $0.quotas.notificationBytesPerOwner = 11_000 }
        let listed = try store.notifications(owner: "bob", unreadOnly: true, after: nil, limit: 9, now: noon)
        #expect(listed.count == 9 && listed.allSatisfy { $0.sender.isEmpty && $0.size == 1_256 && !$0.isPlain })
        _ = try store.createNotification(owner: "bob", sender: "new", payload: "p", now: noon, expiresAt: nextDay)
        let left = try store.notifications(owner: "bob", unreadOnly: true, after: nil, limit: 10, now: noon)
        #expect(left.count == 9 && left.first?.sender == "new")
    }

    @Test func `an app token of the version before has no owners of its recipients, until they are kept`() throws {
        let site = try Site()
        try site.run(
            """
            INSERT INTO app_backend.app_tokens (id, hash, owner, epoch, scopes, recipients, label, created_at)
            VALUES ('t1', 'h', 'alice', 0, '["send"]', '["bob"]', '', 1)
            """)
        let store = try site.open()
        var token = AppToken(
            id: "t1", hash: "h", owner: "alice", epoch: 0, scopes: ["send"], recipients: ["bob"],
            createdAt: Timestamp(seconds: 1))
        #expect(try store.appToken("t1", now: noon) == token)
        try store.bindRecipients(ofAppToken: "t1", to: ["bob:1"])
        token.recipientOwners = ["bob:1"]
        #expect(try store.appToken("t1", now: noon) == token)
    }

    @Test
    func `a queue of the version before is delivered in its order, and that version sees nothing that is scheduled`()
        throws
    {
        let site = try Site()
        let insert =
            "INSERT INTO app_backend.hub_queue (id, document, bytes, created_at, expires_at, queued_at) VALUES "
        try site.run(
            insert
                + "('old-2', '1', 9, 1800000002, 1900000000, now()), ('old-1', '1', 9, 1800000001, 1900000000, now())")
        let store = try site.open()
        try store.enqueueHubMessage(
            HubMessage(id: "new", document: .null, createdAt: noon, notBefore: nextDay, expiresAt: nextDay + 1))
        let due = try store.dueHubMessages(except: [], limit: 9, now: noon).messages
        #expect(due.map(\.id) == ["old-1", "old-2"] && due.allSatisfy { $0.owner == nil })
        // What a process of that version asks, until it is replaced.
        #expect(try site.run("SELECT count(*) FROM app_backend.hub_queue") == "2")
        #expect(
            try store.dueHubMessages(except: [], limit: 9, now: nextDay).messages.map(\.id) == [
                "old-1", "old-2", "new",
            ])
    }

    @Test func `what keys of the hub have registered gets a namespace of its own, and nothing is lost`() throws {
        let site = try Site()
        let store = try site.open()
        let own = try NamespaceScene(store).own
        // The column comes with a later step, which takes all that are moved for namespaced.
        let bare = try store.putHubRegistration(NamespaceScene.registration("s-0", [], isNamespaced: true))
        let first = try store.putHubRegistration(
            NamespaceScene.registration("s-1", ["username:alice", "größe"], isNamespaced: true))
        let served = try store.putHubRegistration(first)
        // Twice: what is moved is not moved once more.
        for _ in 0..<2 {
            for sql in Migrations.servedNamespace { try site.run("SET search_path TO app_backend; " + sql) }
            #expect(try store.hubRegistrations(tag: "username:alice", after: nil, limit: 9).elements == [own])
            #expect(try store.hubRegistrations(tag: "~größe", after: nil, limit: 9).elements == [served.movedToServed])
            #expect(try store.hubRegistrations(channel: "~Cs-0") == [bare.movedToServed])
            #expect(try store.hubRegistration("s-1") == nil && store.hubRegistration("d-1") == own)
            #expect(try store.hubRegistrations(after: nil, limit: 9).elements.count == 3)
        }
    }

    @Test
    func `what a process of the version before registers for keys, before or after it, is moved by the sweep`() throws {
        let site = try Site()
        func register(_ id: String) throws {
            try site.run(
                """
                INSERT INTO app_backend.hub_registrations
                    (id, channel, channel_start, tags, description, updated_at, version)
                VALUES ('\(id)', 'AA', 'AA', '["username:alice"]', '{}', 1, 1);
                INSERT INTO app_backend.hub_registration_tags VALUES ('username:alice', '\(id)')
                """)
        }
        try site.run(
            "DELETE FROM app_backend.migrations WHERE version >= \(Migrations.newest - 1); "
                + "ALTER TABLE app_backend.hub_registrations DROP COLUMN is_namespaced")
        for id in ["d-1", "s-1"] { try register(id) }
        try site.run(
            "INSERT INTO app_backend.devices (id, owner, platform, handle, tags, is_pending, updated_at, version) "
                + "VALUES ('d-1', 'alice', 'apns', 'AA', '[]', false, 1, 1)")
        #expect(try PostgresSiteStore.migrate(url: site.url).after == Migrations.newest)
        let store = try site.open()
        #expect(try store.hubRegistration("d-1")?.isNamespaced == true)
        try register("s-2")
        while try !store.sweep(budget: 100, now: noon).finishedRound {}
        func ids(_ tag: String) throws -> [String] {
            try store.hubRegistrations(tag: tag, after: nil, limit: 9).elements.map(\.id)
        }
        #expect(try ids("username:alice") == ["d-1"] && ids("~username:alice") == ["~s-1", "~s-2"])
    }

    @Test func `of a device that was removed nothing becomes a registration of the served hub`() throws {
        let site = try Site()
        let store = try site.open()
        let device = try store.putDevice(
            DeviceRecord(id: "o-1", owner: "olga", platform: "apns", handle: "OO", updatedAt: noon))
        let orphan = try store.putHubRegistration(
            NamespaceScene.registration("o-1", ["username:olga"], isNamespaced: true))
        #expect(try store.removeDevice(device.id, version: device.version))
        for sql in Migrations.servedNamespace { try site.run("SET search_path TO app_backend; " + sql) }
        #expect(try store.hubRegistrations(after: nil, limit: 9).elements == [orphan])
    }

    @Test(arguments: [true, false])
    func `a removed registration that a process of the version before makes again is of no namespace`(
        isRemovedBefore: Bool
    ) throws {
        let site = try Site()
        let store = try site.open()
        _ = try store.putHubRegistration(NamespaceScene.registration("s-1", ["all"], isNamespaced: true))
        #expect(try store.removeHubRegistration("s-1", version: nil))
        if isRemovedBefore {
            // As the step before left it.
            try site.run("UPDATE app_backend.hub_registrations SET is_namespaced = true")
            for sql in Migrations.removedRegistrations { try site.run("SET search_path TO app_backend; " + sql) }
        }
        try site.run(
            """
            INSERT INTO app_backend.hub_registrations (id, channel, channel_start, tags, description, updated_at, version)
            VALUES ('s-1', 'AA', 'AA', '["all"]', '{}', 1, 1)
            ON CONFLICT (id) DO UPDATE SET channel = 'AA', channel_start = 'AA', tags = '["all"]', description = '{}',
                removed_at = NULL
            """)
        while try !store.sweep(budget: 100, now: noon).finishedRound {}
        #expect(try store.hubRegistration("s-1") == nil && store.hubRegistration("~s-1")?.tags == ["~all"])
    }

    @Test func `what a version without owners has put in waits beside what has one`() throws {
        let site = try Site()
        try site.run(
            "INSERT INTO app_backend.scheduled_sends (id, document, created_at, expires_at) VALUES "
                + "('old', '{\"owner\":\"alice\"}', 1800000000, 1900000000)")
        let store = try site.open()
        let new = HubMessage(id: "new", owner: "bob", document: .null, createdAt: noon + 1, expiresAt: nextDay)
        try store.putWaiting([new], in: .sends)
        #expect(try store.waiting(in: .sends, of: "alice").map(\.id) == ["old"])
        #expect(try store.waiting(in: .sends, of: "bob").map(\.id) == ["old", "new"])
        let old = try #require(try store.waitingEntry("old", in: .sends))
        #expect(old.owner == nil && old.document["owner"]?.string == "alice")
        #expect(try store.changeWaiting(old, to: nil, in: .sends))
    }

    @Test func `an older one is refused with the cure`() throws {
        let site = try Site()
        try site.run("DELETE FROM app_backend.migrations")
        #expect(Site.refusal(site.url).contains("app-backend store migrate"))
    }

    @Test func `a newer one is refused, and left alone`() throws {
        let site = try Site()
        try site.run("INSERT INTO app_backend.migrations VALUES (9999, now())")
        #expect(Site.refusal(site.url).contains("newer version"))
        #expect(throws: StoreError.self) { try PostgresSiteStore.migrate(url: site.url) }
    }

    @Test func `of an impossible version it is damaged, and left alone`() throws {
        let site = try Site()
        try site.run("DELETE FROM app_backend.migrations")
        try site.run("INSERT INTO app_backend.migrations VALUES (-5, now())")
        #expect(Site.refusal(site.url).contains("cannot have written"))
        #expect(throws: StoreError.self) { try PostgresSiteStore.migrate(url: site.url) }
        #expect(try site.run("SELECT version FROM app_backend.migrations") == "-5")
    }

    @Test func `several may make it at once`() throws {
        let site = try Site(isMigrated: false)
        let outcomes = inParallel(6) { _ in Result { try PostgresSiteStore.migrate(url: site.url).after } }
        let versions = try outcomes.map { try $0.get() }
        #expect(Set(versions).count == 1)
        _ = try site.open()
        #expect(
            try site.run("SELECT count(*), max(version) FROM app_backend.migrations") == "\(versions[0])|\(versions[0])"
        )
    }

    @Test func `a user who may make no schemas finds one that was made for them`() throws {
        let site = try Site(isMigrated: false)
        let (role, url) = try makeRole(site)
        #expect(throws: StoreError.self) { try PostgresSiteStore.migrate(url: url) }
        try site.run("CREATE SCHEMA app_backend AUTHORIZATION \(role)")
        _ = try PostgresSiteStore.migrate(url: url)
        #expect(try PostgresSiteStore.open(url: url, options: .patient).users() == [])
    }

    @Test func `a user who may not use it learns that, and not that there is none`() throws {
        let site = try Site()
        let (role, url) = try makeRole(site)
        #expect(Site.refusal(url).contains("may not use the schema app_backend (GRANT USAGE)"))
        let migration = #expect(throws: StoreError.self) { try PostgresSiteStore.migrate(url: url) }
        #expect(String(describing: migration).contains("GRANT USAGE"))
        try site.run("GRANT USAGE ON SCHEMA app_backend TO \(role)")
        #expect(Site.refusal(url).contains("may not use the store's tables"))
        try site.run("GRANT SELECT ON ALL TABLES IN SCHEMA app_backend TO \(role)")
        #expect(Site.refusal(url) == "")
    }
}
