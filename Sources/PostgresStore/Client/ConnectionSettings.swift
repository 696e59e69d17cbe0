// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Store
internal import Text

/// How every connection of a store is made.
struct ConnectionSettings: Sendable {
    /// The database; secret, because a password may be in it.
    let url: String
    /// The schema that holds the tables.
    let schema: String
    /// How long a caller waits.
    let callTimeout: Duration
    /// The names of all options that libpq knows.
    let options: [String]
    /// Whether the URL asks libpq to wait without end while it connects.
    private let waitsForever: Bool

    typealias Keyword = (name: String, value: String)

    /// - Throws: `unavailable`, when libpq does not understand the URL; it is not repeated.
    init(url: String, schema: String, callTimeout: Duration, _ library: LibPQ) throws(StoreError) {
        let options = URLOptions(parsing: "postgresql://", library)?.values.map(\.name) ?? []
        guard PostgresSiteStore.schemes.contains(where: url.hasPrefix), !url.utf8.contains(0),
            let values = URLOptions(parsing: url, library)
        else { throw .unavailable(detail: "PostgreSQL: " + Self.fault(of: url, options: options)) }
        guard Self.isPlainName(schema) else {
            throw .unavailable(detail: "PostgreSQL: the schema's name is not made of a-z, 0-9 and _")
        }
        (self.url, self.schema, self.callTimeout, self.options) = (url, schema, callTimeout, options)
        // What is no number libpq refuses itself.
        let timeout = values["connect_timeout"].flatMap { Int($0.filter { $0 != " " }) }
        waitsForever = timeout.map { $0 <= 0 } ?? false
    }

    /// How long the server works on one statement: less than its caller waits, so that one that is alive is heard of.
    private var statementTimeout: Duration { callTimeout * 3 / 4 }
    /// How long it waits for a lock.
    private var lockTimeout: Duration { callTimeout / 2 }
    /// How long a server may say nothing before it counts as hanging: longer than it works on any statement, with time for
    /// the way there and back.
    var patience: Duration { callTimeout * 7 / 8 }

    /// Whether it may be in a statement as it is.
    private static func isPlainName(_ name: String) -> Bool {
        guard let first = name.utf8.first, (1...63).contains(name.utf8.count) else { return false }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return letters.contains(first)
            && name.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }
    }

    /// libpq's keywords in the order in which later ones win: the URL over our defaults, and what must be so over the URL.
    /// A peer that is gone without a word is noticed after 60 seconds of silence at the latest, and after half the time of
    /// one call when something was sent to it. A server that says nothing while a connection is made is given up after two
    /// seconds, the least that libpq knows, and libpq goes on to the URL's next one. A URL may say more seconds, but not 0,
    /// which means without end: then a call would have no deadline.
    var keywords: [Keyword] {
        let timeout: Keyword = ("connect_timeout", "2")
        let keywords: [Keyword] = [
            timeout,
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", String(lockTimeout.milliseconds)),
            ("fallback_application_name", "app-backend"),
            ("dbname", url),
            ("client_encoding", "UTF8"),
        ]
        return waitsForever ? keywords + [timeout] : keywords
    }

    /// Sent once on each new connection. The server then waits for its disk, also where its default is not to:
    /// what was acknowledged must be there after a loss of power. Stricter settings, which wait for standbys, stay.
    var preparation: String {
        """
        SET search_path TO \(schema);
        SET statement_timeout = \(statementTimeout.milliseconds);
        SET lock_timeout = \(lockTimeout.milliseconds);
        SET idle_in_transaction_session_timeout = \((callTimeout * 2).milliseconds);
        SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
        """
    }
}

extension Duration {
    /// At least 1; 0 would mean without end.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let whole = min(max(0, seconds), 1_000_000)
        return max(1, whole * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
}

extension URLOptions {
    /// What libpq takes where a URL says nothing: its own defaults, the environment (`PGHOST`, `PGSSLMODE`, …), and the
    /// service that `PGSERVICE` names.
    static func defaults(_ library: LibPQ) -> URLOptions? {
        library.functions.PQconndefaults().map { URLOptions(taking: $0, library) }
    }
}

extension ConnectionSettings {
    /// A server elsewhere must prove its identity, or an attacker in between reads and changes the state, as with a
    /// hub's `http://`.
    /// - Throws: `unavailable`, when a server of the URL may be on another host and need not prove it.
    func refuseOpenNetwork(_ library: LibPQ) throws(StoreError) {
        guard let url = URLOptions(parsing: url, library) else { return }
        // A service that the URL names may lead anywhere; only what the URL itself says wins over it.
        let defaults = url["service"] == nil ? URLOptions.defaults(library) : nil
        func value(_ name: String) -> String? { url[name] ?? defaults?[name] }
        if value("sslmode") == "verify-full" { return }
        func list(_ name: String) -> [String] {
            (value(name) ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (hosts, addresses) = (list("host"), list("hostaddr"))
        let isLocal = (0..<max(hosts.count, addresses.count)).allSatisfy { index in
            let address = addresses.dropFirst(index).first ?? ""
            return Self.isLocal(address.isEmpty ? hosts.dropFirst(index).first ?? "" : address)
        }
        guard defaults == nil || !isLocal else { return }
        throw .unavailable(
            detail: "PostgreSQL: a server on another host must prove who it is: the URL needs the option "
                + "sslmode=verify-full")
    }

    /// Whether it is a socket of this host, as one without a name is, or a loopback address.
    private static func isLocal(_ host: String) -> Bool {
        host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || Loopback.contains(host)
    }
}
