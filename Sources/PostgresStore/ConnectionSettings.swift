// SPDX-License-Identifier: Apache-2.0
import Store

/// How every connection of a store is made.
struct ConnectionSettings: Sendable {
    /// The database; secret, because a password may stand in it.
    let url: String
    /// The schema that holds the tables.
    let schema: String
    /// How long a caller waits.
    let callTimeout: Duration
    /// What makes each of the URL's servers the only one, in their order; one, of nothing, where it is for libpq to say.
    let servers: [[Keyword]]

    /// The names of all options that libpq knows.
    let options: [String]

    typealias Keyword = (name: String, value: String)

    /// - Throws: `unavailable`, when the URL is none that libpq understands; it is not repeated.
    init(url: String, schema: String, callTimeout: Duration, _ library: LibPQ) throws(StoreError) {
        let options = URLOptions(parsing: "postgresql://", library)?.values.map(\.name) ?? []
        guard PostgresStore.schemes.contains(where: url.hasPrefix), !url.utf8.contains(0),
            let parsed = URLOptions(parsing: url, library)
        else { throw .unavailable(detail: "PostgreSQL: " + Self.fault(of: url, options: options)) }
        guard Self.isPlainName(schema) else {
            throw .unavailable(detail: "PostgreSQL: the schema's name is not made of a-z, 0-9 and _")
        }
        (self.url, self.schema, self.callTimeout, self.options) = (url, schema, callTimeout, options)
        servers = Self.servers(parsed)
    }

    /// libpq goes on to the next server of a list when one refuses, but not, in its non-blocking way, when one is silent, as
    /// a host without power is. So they are asked one by one.
    private static func servers(_ options: URLOptions) -> [[Keyword]] {
        let lists = ["host", "hostaddr", "port"].compactMap { name -> (name: String, values: [String])? in
            guard let value = options[name] else { return nil }
            return (name, value.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
        }
        let count = lists.map { $0.name == "port" ? 1 : $0.values.count }.max() ?? 1
        // One port is that of all; any other number that does not fit is an error, which libpq names. What is empty leaves
        // the URL's whole list in force (conninfo_array_parse in libpq's sources), so such hosts stay libpq's to ask.
        guard count > 1, lists.allSatisfy({ $0.values.count == count || $0.name == "port" && $0.values.count == 1 }),
            lists.allSatisfy({ $0.name == "port" || !$0.values.contains("") })
        else { return [[]] }
        return (0..<count).map { index in
            lists.map { list in
                let value = list.values.count == 1 ? list.values[0] : list.values[index]
                return (list.name, value.isEmpty ? standardPort : value)
            }
        }
    }

    /// What libpq takes where a list has no port. `//one,two/` has two of nothing.
    private static let standardPort = "5432"

    /// How long the server works on one statement: less than its caller waits, so that one that is alive is heard of.
    private var statementTimeout: Duration { callTimeout * 3 / 4 }
    /// How long it waits for a lock.
    private var lockTimeout: Duration { callTimeout / 2 }
    /// How long a server may say nothing before it counts as hanging: longer than it works on any statement, with time for
    /// the way there and back.
    var patience: Duration { callTimeout * 7 / 8 }

    /// Whether it may stand in a statement as it is.
    private static func isPlainName(_ name: String) -> Bool {
        guard let first = name.utf8.first, (1...63).contains(name.utf8.count) else { return false }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return letters.contains(first)
            && name.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }
    }

    /// libpq's keywords in the order in which later ones win: the URL over our defaults, and what must be so over the URL.
    /// A peer that is gone without a word is noticed after 60 seconds of silence at the latest, and after half the time of
    /// one call when something was sent to it. That holds for connecting, too (tcp(7)), where libpq then goes on to the
    /// next address of a server's name: its own `connect_timeout` is for callers that let it block.
    ///
    /// - Parameter server: one of `servers`.
    func keywords(_ server: [Keyword]) -> [Keyword] {
        let common: [Keyword] = [
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", String(lockTimeout.milliseconds)),
            ("fallback_application_name", "app-backend"),
            ("dbname", url),
            ("client_encoding", "UTF8"),
        ]
        return common + server
    }

    /// Sent once on each new connection. A server whose default is not to wait for its disk is told to: what was
    /// acknowledged must be there after a loss of power. Stricter settings, which wait for standbys, stay.
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
    /// At least 1; 0 would mean for ever.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let whole = min(max(0, seconds), 1_000_000)
        return max(1, whole * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
}
