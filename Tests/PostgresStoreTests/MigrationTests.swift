// SPDX-License-Identifier: Apache-2.0
import Dispatch
import PostgresServer
import PostgresStore
import Store
import Testing

@Suite struct `The schema of the database` {
    private func refusal(_ site: Site) -> String {
        do {
            _ = try site.open()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `it is made by a command, and found by the store`() throws {
        let site = try Site(isMigrated: false)
        #expect(refusal(site).contains("app-backend store migrate"))
        #expect(try PostgresStore.migrate(url: site.url).before == 0)
        _ = try site.open()
        let again = try PostgresStore.migrate(url: site.url)
        #expect(again.before == again.after)
        #expect(try site.run("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "0")
    }

    @Test func `an older one is refused with the cure`() throws {
        let site = try Site()
        try site.run("DELETE FROM app_backend.migrations")
        #expect(refusal(site).contains("app-backend store migrate"))
    }

    @Test func `a newer one is refused, and left alone`() throws {
        let site = try Site()
        try site.run("INSERT INTO app_backend.migrations VALUES (9999, now())")
        #expect(refusal(site).contains("newer version"))
        #expect(throws: StoreError.self) { try PostgresStore.migrate(url: site.url) }
    }

    @Test func `of a version that there cannot be it is damaged, and left alone`() throws {
        let site = try Site()
        try site.run("UPDATE app_backend.migrations SET version = -5")
        #expect(refusal(site).contains("cannot have written"))
        #expect(throws: StoreError.self) { try PostgresStore.migrate(url: site.url) }
        #expect(try site.run("SELECT version FROM app_backend.migrations") == "-5")
    }

    @Test func `several may make it at once`() throws {
        let site = try Site(isMigrated: false)
        let outcomes = inParallel(6) { _ in Result { try PostgresStore.migrate(url: site.url).after } }
        let versions = try outcomes.map { try $0.get() }
        #expect(Set(versions).count == 1)
        _ = try site.open()
        #expect(
            try site.run("SELECT count(*), max(version) FROM app_backend.migrations") == "\(versions[0])|\(versions[0])"
        )
    }

    @Test func `a user who may make no schemas finds one that was made for him`() throws {
        let site = try Site(isMigrated: false)
        let role = "role_" + (site.url.split(separator: "_").last?.split(separator: "?").first.map(String.init) ?? "")
        try site.run("CREATE ROLE \(role) LOGIN")
        let url = site.url.replacing("app@", with: role + "@")
        #expect(throws: StoreError.self) { try PostgresStore.migrate(url: url) }
        try site.run("CREATE SCHEMA app_backend AUTHORIZATION \(role)")
        _ = try PostgresStore.migrate(url: url)
        #expect(try PostgresStore.open(url: url).users() == [])
    }
}
