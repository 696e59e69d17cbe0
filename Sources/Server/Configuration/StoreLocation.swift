// SPDX-License-Identifier: Apache-2.0
import PostgresStore
package import Text

/// Where the state is kept.
package enum StoreLocation: Equatable, Sendable {
    /// In flat files below this folder: `store.path`.
    case folder(String)
    /// In PostgreSQL: `store.url`, a connection URI of libpq's, and how many connections it may be asked over at once:
    /// `store.connections`.
    case database(Secret, connections: Int)

    /// nil: the state is not in a folder.
    package var folder: String? {
        guard case .folder(let path) = self else { return nil }
        return path
    }

    /// The key that says so.
    package var key: String {
        switch self {
        case .folder: "store.path"
        case .database: "store.url"
        }
    }
}

extension StoreLocation: CustomStringConvertible {
    /// For people. A database's URL may hold a password.
    package var description: String {
        switch self {
        case .folder(let path): path
        case .database: "the PostgreSQL database of store.url"
        }
    }
}

extension StoreLocation {
    static let settings: [Setting] = [
        Setting(
            "store.path", .text, is: .fixed, default: "required, unless `store.url` is set",
            "Folder that stores the state. The service creates it with mode 0700.",
            shown: { $0.store.folder.map { .text($0) } }, keep: keeping("store.path")),
        Setting(
            "store.url", .text, is: [.secret, .address, .fixed], default: "none",
            """
            `postgresql://user:password@host/database` stores the state in [PostgreSQL](../operate/postgresql.md), so \
            that several hosts can share it. A server on another host needs `sslmode=verify-full`. Install Debian's \
            `libpq5`.
            """, keep: keeping("store.url")),
        Setting(
            "store.connections", .number(1...256), is: .fixed, default: "16",
            "Maximum number of connections that this process opens to `store.url`."
        ) {
            if case .database(_, let connections) = $0.store { .text("\(connections)") } else { nil }
        },
    ]

    /// Keeps the location, and says so of the key that named the other one.
    private static func keeping(_ key: String) -> @Sendable (inout SiteConfiguration, SiteConfiguration) -> Bool {
        { wanted, running in wanted.store.key == key && Setting.keeping(\.store)(&wanted, running) }
    }

    /// Reads `store.path`, `store.url` and `store.connections`.
    init(_ reading: inout ConfigurationReading) {
        let path = reading.path("store.path")
        let url = reading.text("store.url")
        let connections = reading.number("store.connections")
        guard let url else {
            // A path that leads nowhere is a fault of its own.
            if path == nil, reading.text("store.path") == nil {
                Self.reportMissing(&reading)
            }
            if connections != nil { reading.fault("store.connections", "is for store.url, which is not set") }
            if let path, reading.sources.environment.unit?.mayWrite(path) == false {
                reading.fault(
                    "store.path",
                    "the service's unit does not let it write to \(path): name it in ReadWritePaths= of a drop-in")
            }
            self = .folder(path ?? "")
            return
        }
        if path != nil { reading.fault("store.url", "excludes store.path: the state is in one place") }
        if !PostgresSiteStore.schemes.contains(where: url.hasPrefix) {
            reading.fault("store.url", "must begin with postgresql://")
        }
        self = .database(Secret(url), connections: connections ?? PostgresSiteStore.Options().connections)
    }

    private static func reportMissing(_ reading: inout ConfigurationReading) {
        guard reading.sources.path == nil else {
            return reading.fault(
                "store.path", "must be the path of the folder to keep the state in, or store.url that of a database")
        }
        let beside = ConfigurationFile.besideExecutable
        reading.fault(
            "store.path",
            "is needed, and there is no configuration: neither \(ConfigurationFile.systemPath) nor \(beside) is there")
    }
}
