// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Store
internal import Text

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
