// SPDX-License-Identifier: Apache-2.0
package import NotificationHub
import Text

/// The hub: `hub.*`.
extension SiteConfiguration {
    package struct Hub: Sendable {
        /// nil: the local hub, in this process.
        package var connection: ConnectionString?
        package var name = "app-backend"
        package var platforms: [Platform] = [.apns, .fcm, .wns, .browser]
        /// Seconds that one call may take.
        package var timeout = 10
        package var caFile: String?
        /// nil: no proxy, whatever the environment says.
        package var proxy: String?
    }

    /// A hub has the name of its connection string, unless it has one of its own.
    mutating func readHub(_ reading: inout ConfigurationReading) {
        guard reading.text("hub.name") == nil, let name = hub.connection?.entityPath else { return }
        hub.name = name
        if let reason = Hub.fault(ofName: name) { reading.fault("hub.name", reason) }
    }
}

extension SiteConfiguration.Hub {
    static let settings: [Setting] = [
        .parsed(
            "hub.connectionString", \.hub.connection, is: .secret, default: "none: the built-in hub delivers",
            "`Endpoint=sb://….servicebus.windows.net/;SharedAccessKeyName=…;SharedAccessKey=…`, with full rights."
        ) { try ConnectionString($0) },
        .text(
            "hub.name", \.hub.name, default: "`EntityPath` of the string, otherwise `app-backend`",
            "Name of the hub.", check: fault(ofName:)),
        .choices(
            "hub.platforms", \.hub.platforms, of: Self().platforms,
            "Platforms that the service sends to. Leave out those for which the hub has no credentials."),
        .number(
            "hub.timeout", \.hub.timeout, 1...120,
            """
            Seconds that one call may take. A request makes several calls, and nginx waits `fastcgi_read_timeout` for \
            all of them.
            """),
        .certificates(
            "hub.caFile", \.hub.caFile,
            "Certificates (PEM) to trust, for a private hub. You cannot switch off verification."),
        .optional(
            "hub.proxy", \.hub.proxy, is: .address,
            "Proxy for calls to the hub. The service does not read variables such as `https_proxy`."),
    ]

    fileprivate static func fault(ofName name: String) -> String? {
        let isPath = !name.isEmpty && name.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-_.".utf8.contains($0) }
        return isPath && !["api", "health", "metrics"].contains(name.lowercased())
            ? nil : "must be letters, digits, '-', '_' and '.', and not api, health or metrics"
    }
}
