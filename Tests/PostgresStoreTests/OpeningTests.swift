// SPDX-License-Identifier: Apache-2.0
import PostgresStore
import Store
import Support
import Testing

@Suite struct `Opening a database` {
    @Test(arguments: ["", "mysql://x", "postgresql://host:port:port/", "postgresql://h/d?no_such_option=1", "/var/lib"])
    func `what is no URL of a database is refused, and not repeated`(url: String) throws {
        let error = #expect(throws: StoreError.self) { try PostgresSiteStore.open(url: url, options: .patient) }
        #expect(url.isEmpty || !"\(String(describing: error))".contains(url))
    }

    @Test func `neither password, user nor host stands in an error`() throws {
        let server = try PostgresServer.shared.get()
        for url in [
            "postgresql://jane:hunter2@127.0.0.1:1/secretbase",
            "postgresql://jane:hunter2@/secretbase?host=\(server.folder)",
            "postgresql://jane:hunter2@/secretbase?host=/nowhere/secretbase",
        ] {
            let error = #expect(throws: StoreError.self) { try PostgresSiteStore.open(url: url, options: .patient) }
            let text = String(describing: error)
            for secret in ["jane", "hunter2", "secretbase", "127.0.0.1", server.folder, "nowhere"] {
                #expect(!text.contains(secret))
            }
        }
    }

    @Test func `an error says what is wrong`() throws {
        let server = try PostgresServer.shared.get()
        func reason(_ url: String) -> String {
            do {
                _ = try PostgresSiteStore.open(url: url, options: .patient)
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(reason("postgresql://app@127.0.0.1:1/d").contains("nothing listens"))
        #expect(reason("postgresql://app@/nobase?host=\(server.folder)").contains("no such database"))
        #expect(reason("postgresql://nobody@/postgres?host=\(server.folder)").contains("does not know the user"))
        #expect(reason("postgresql://app@/d?host=/nowhere").contains("socket"))
        #expect(reason("postgresql://app@h/d?ssl_mode=require&port=1").contains("no option ssl_mode"))
        #expect(reason("postgresql://app@h/d?sslmode=sure").contains("option sslmode"))
        #expect(reason("postgresql://app@h/d?sslmode=verify-full&port=many").contains("port"))
        #expect(reason("postgresql://app@/d?host=a,b&port=1,2,3&sslmode=verify-full").contains("hosts"))
    }

    private static let insecure = "the URL needs the option sslmode=verify-full"

    @Test(arguments: [
        "postgresql://app:hidden@db.example/d", "postgresql://app@db.example/d?sslmode=require",
        "postgresql://app@/d?host=db.example", "postgresql://app@localhost/d?hostaddr=192.0.2.7",
        "postgresql://app@127.0.0.1,db.example/d?sslmode=verify-ca", "postgresql://app@/d?host=/run,192.0.2.7",
        "postgresql://app@[2001:db8::1]/d?sslmode=prefer", "postgresql:///d?service=elsewhere",
        "postgresql://app@localhost/d?service=elsewhere",
        "postgresql://app@127.example.org/d", "postgresql://app@db.example/d?hostaddr=,",
    ]) func `a server elsewhere that need not prove who it is is refused before anything is sent`(url: String) throws {
        let error = #expect(throws: StoreError.self) { try PostgresSiteStore.open(url: url, options: .patient) }
        let text = String(describing: error)
        #expect(text.contains(Self.insecure) && !text.contains("hidden") && !text.contains("db.example"))
    }

    @Test(arguments: [
        "postgresql:///d?host=/nowhere", "postgresql://app@127.0.0.1:1/d", "postgresql://app@[::1]:1/d",
        "postgresql://app@localhost:1/d?sslmode=disable", "postgresql://a@db.example:1/d?hostaddr=127.0.0.1",
        "postgresql://a@db.invalid/d?sslmode=verify-full",
    ]) func `one on this host, and one that must prove it, are asked`(url: String) throws {
        let error = #expect(throws: StoreError.self) { try PostgresSiteStore.open(url: url, options: .patient) }
        #expect(!String(describing: error).contains(Self.insecure))
    }

    @Test(arguments: [
        "postgresql://app:a/b?hunter=2@h/d", "postgresql://app@h/d?Hunter=2", "postgresql://h/d?hunt%65r=2",
        "postgresql://app@h/d?password=2&hunter=2", "postgresql://app@h/d?sslpassword=2&hunter=2",
        "postgresql://app@h/d?p%61ssword=2&hunter=2", "postgresql://app:2?hunter",
    ])
    func `what may be a piece of a password is not taken for an option's name`(url: String) throws {
        let error = #expect(throws: StoreError.self) { try PostgresSiteStore.open(url: url, options: .patient) }
        #expect(!"\(String(describing: error))".lowercased().contains("hunt"))
    }

    @Test func `users are kept`() throws {
        let store = try Site().open()
        let user = try store.putUser(User(name: "alice", passwordHash: "$y$1", tags: ["a", "é\n\u{0}"]))
        #expect(try store.user("alice") == user)
        #expect(throws: StoreError.conflict) { try store.putUser(User(name: "alice", passwordHash: "")) }
        #expect(try store.removeUser("alice"))
        #expect(try store.users() == [])
        #expect(try store.putUser(User(name: "alice", passwordHash: "")).version == 2)
    }
}
