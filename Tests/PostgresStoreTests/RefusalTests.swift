// SPDX-License-Identifier: Apache-2.0
import PostgresStore
import Store
import StoreContract
import Support
import Testing

/// What a server may say or do to a call, and what the caller hears.
@Suite struct `A database in trouble` {
    private let user = User(name: "alice", passwordHash: "x")

    /// From now on the first `times` inserts into that table do what the trigger's body says.
    private func disturb(_ site: Site, _ table: String, times: Int, _ body: String) throws {
        try site.run(
            """
            CREATE SEQUENCE app_backend.disturbances;
            CREATE FUNCTION app_backend.disturb() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('app_backend.disturbances') <= \(times) THEN \(body); END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER disturb BEFORE INSERT ON app_backend.\(table)
                FOR EACH ROW EXECUTE FUNCTION app_backend.disturb()
            """)
    }

    private func disturbances(_ site: Site) throws -> String {
        try site.run("SELECT last_value FROM app_backend.disturbances")
    }

    @Test(arguments: ["40001", "40P01"])
    func `what the server gave up for others' sake is tried again`(state: String) throws {
        let site = try Site()
        try disturb(site, "users", times: 3, "RAISE EXCEPTION USING ERRCODE = '\(state)'")
        let store = try site.open()
        #expect(try store.putUser(user).version == 1)
        #expect(try disturbances(site) == "4")
        try disturbTransactions(site, state)
        #expect(try store.putRecords([.session(session)], now: noon) == 1)
        #expect(try disturbances(site) == "3")
    }

    private let session = Session(id: "s", owner: "o", binding: "", createdAt: noon, expiresAt: nextDay)

    private func disturbTransactions(_ site: Site, _ state: String) throws {
        try site.run("DROP SEQUENCE app_backend.disturbances; DROP FUNCTION app_backend.disturb CASCADE")
        try disturb(site, "sessions", times: 2, "RAISE EXCEPTION USING ERRCODE = '\(state)'")
    }

    @Test func `what the server gives up again and again ends with an error that names it`() throws {
        let site = try Site()
        try disturb(site, "users", times: 1_000, "RAISE EXCEPTION USING ERRCODE = '40001'")
        let store = try site.open()
        #expect(throws: StoreError.unavailable(detail: "PostgreSQL, createUser: SQLSTATE 40001")) {
            try store.putUser(user)
        }
        #expect(try store.users() == [])
    }

    @Test(arguments: [
        ("53100", StoreError.full), ("25006", .readOnly), ("55P03", .busy(retryAfterSeconds: 1)),
        ("23514", .unavailable(detail: "PostgreSQL, createUser: SQLSTATE 23514")),
    ])
    func `a refusal says what the caller must do, and nothing of what it wrote`(
        state: String, error: StoreError
    ) throws {
        let site = try Site()
        try disturb(
            site, "users", times: 1_000, "RAISE EXCEPTION 'alice %', NEW.password_hash USING ERRCODE = '\(state)'")
        let store = try site.open()
        #expect(throws: error) { try store.putUser(user) }
        #expect(try store.users() == [])
    }

    @Test func `a call that breaks off is made again where that makes one thing only`() throws {
        let site = try Site()
        let breakOff = "PERFORM pg_terminate_backend(pg_backend_pid())"
        try disturb(site, "notifications", times: 2, breakOff)
        let store = try site.open()
        let made = try store.createNotification(owner: "bob", payload: "p", now: noon, expiresAt: nextDay)
        #expect(try store.wholeNotifications(owner: "bob", now: noon) == [made])
        #expect(try disturbances(site) == "3")
    }

    @Test func `a call that breaks off is not made again where it might do two things`() throws {
        let site = try Site()
        try disturb(site, "users", times: 1, "PERFORM pg_terminate_backend(pg_backend_pid())")
        let store = try site.open()
        #expect(throws: StoreError.unavailable(detail: "PostgreSQL, createUser: the connection was lost")) {
            try store.putUser(user)
        }
        #expect(try disturbances(site) == "1")
        #expect(try store.putUser(user).version == 1)
    }

    @Test func `sessions that were ended between two calls cost no call an error`() throws {
        let site = try Site()
        let store = try site.open { $0.connections = 4 }
        for round in 0..<3 {
            _ = inParallel(4) { _ in (try? store.users()) != nil }
            try site.endSessions()
            #expect(try store.putUser(User(name: "u\(round)", passwordHash: "")).version == 1)
        }
    }

    @Test func `where nothing may be written reads work, and writes again when they may`() throws {
        let site = try Site()
        let store = try site.open()
        _ = try store.putUser(user)
        try site.set("default_transaction_read_only", "on")
        try site.endSessions()
        #expect(throws: StoreError.readOnly) { try store.putUser(User(name: "bob", passwordHash: "")) }
        #expect(store.health() == .readOnly)
        #expect(try store.user("alice")?.version == 1)
        try site.set("default_transaction_read_only", nil)
        // The sessions that were begun meanwhile go on being read-only; the store leaves them behind, once in a while.
        #expect(Deadline.poll(seconds: Site.seconds) { store.health() == .writable })
        #expect(try store.putUser(User(name: "bob", passwordHash: "")).version == 1)
    }

    @Test func `a statement that takes too long ends with an error, and the next one works`() throws {
        let site = try Site()
        try disturb(site, "users", times: 1_000, "PERFORM pg_sleep(600)")
        let store = try site.open(timeout: .seconds(2))
        #expect(throws: StoreError.self) { try store.putUser(user) }
        // The next one, that is, which a busy machine gets done in two seconds.
        #expect(Deadline.poll(seconds: Site.seconds) { (try? store.users()) == [] })
    }

    @Test func `a lock that another session keeps makes the store busy`() throws {
        let site = try Site()
        let store = try site.open(timeout: .seconds(1))
        let holder = try site.holding("LOCK TABLE app_backend.users IN ACCESS EXCLUSIVE MODE")
        defer { holder.stop() }
        // The wait for the lock ends a quarter of a second before the statement does; where the server was stopped for that
        // long, it speaks of the statement.
        let isBusy = Deadline.poll(seconds: Site.seconds) {
            #expect(throws: StoreError.self) { try store.user("alice") } == .busy(retryAfterSeconds: 1)
        }
        #expect(isBusy)
    }

    @Test func `a row that no store wrote is an error, not an end`() throws {
        let site = try Site()
        let store = try site.open()
        _ = try store.putUser(user)
        for value in ["tags = 'no JSON'", "tags = '{}'", "tags = NULL, name = '\\xff'"] {
            try site.run("UPDATE app_backend.users SET \(value)")
            #expect(throws: StoreError.damaged(detail: "PostgreSQL, users: a row that this store cannot have written"))
            {
                try store.users()
            }
        }
    }

    @Test(arguments: [-1, 0, 199, 600, 1_000, Int.max])
    func `an answer whose status HTTP does not have is an error, not an end`(status: Int) throws {
        let site = try Site()
        let store = try site.open()
        var request = IdempotentRequest(owner: "o", key: "k", fingerprint: "f", createdAt: noon, expiresAt: nextDay)
        request.answer = KeptAnswer(status: 200, contentType: "", body: "")
        try store.keepAnswer(of: request)
        try site.run("UPDATE app_backend.idempotent_requests SET status = \(status)")
        #expect(
            throws: StoreError.damaged(
                detail: "PostgreSQL, idempotentRequest: a row that this store cannot have written")
        ) {
            try store.claimIdempotencyKey(request, now: noon)
        }
    }

    @Test func `many callers share few connections`() throws {
        let site = try Site()
        let store = try site.open { $0.connections = 2 }
        let outcomes = inParallel(40) { number in
            (try? store.putUser(User(name: "u\(number)", passwordHash: ""))) != nil
        }
        #expect(outcomes.allSatisfy { $0 })
        #expect(try store.users().count == 40)
        // None of theirs is closed, so if there had been more they would stay.
        try site.waitForSessions(atMost: 2)
    }
}
