// SPDX-License-Identifier: Apache-2.0
import PostgresStore
import Store
import Support
import Testing

@Suite struct `A database behind TLS` {
    @Test func `a server is taken for its name by its certificate, and another's is refused`() throws {
        let (certificate, others) = (try Certificate(for: "db.example"), try Certificate(for: "db.example"))
        let site = try Site(PostgresServer(certificate: certificate))
        let (port, database) = (try #require(site.server.port), try site.run("SELECT current_database()"))
        func url(_ name: String, authority: String, mode: String = "verify-full") -> String {
            "postgresql://app@\(name):\(port.number)/\(database)?hostaddr=127.0.0.1"
                + "&sslmode=\(mode)&sslrootcert=\(authority)&connect_timeout=\(PostgresServer.seconds)"
        }
        let own = url("db.example", authority: certificate.file)
        let store = try PostgresSiteStore.open(url: own, options: .patient)
        _ = try store.putUser(User(name: "alice", passwordHash: ""))
        let sessions = "pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_addr IS NOT NULL"
        #expect(try site.run("SELECT bool_and(ssl) FROM \(sessions)") == "t")
        // What is in the pool meanwhile says good-bye in TLS's own words.
        site.server.stop()
        try site.server.start()
        #expect(try store.putUser(User(name: "bob", passwordHash: "")).version == 1)

        #expect(Site.refusal(url("db.example", authority: others.file)).contains("no authority of sslrootcert"))
        #expect(Site.refusal(url("db.example", authority: "/nowhere.pem")).contains("the file of sslrootcert"))
        #expect(Site.refusal(url("db.other", authority: certificate.file)).contains("another name"))
        #expect(Site.refusal(url("db.other", authority: certificate.file, mode: "verify-ca")) == "")
    }
}
