// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Glibc
import HTTP
import JSON
import Logging
import Store
import Support
import Testing

@testable import Server

/// What a running responder makes of its configuration when it reads it again.
struct ReloadTests {
    /// A site that answers, and its configuration file.
    private struct Bench {
        let folder: ScratchFolder
        let log = CollectedLog()
        let threshold = LogThreshold(.info)
        let site: ReloadableSite

        init(_ members: String, listensOnPort: Bool = false) throws {
            let folder = try ScratchFolder()
            self.folder = folder
            try folder.write(Self.text(members, folder), to: "app-backend.json")
            let configuration = try #require(Self.load(folder).0)
            site = try ReloadableSite(
                configuration, listensOnPort: listensOnPort, store: Site.openStore(configuration) { _ in },
                logger: log.logger, metrics: Site.makeMetrics(), load: { HealthController.Load() })
        }

        private static func text(_ members: String, _ folder: ScratchFolder) -> String {
            #"{ "store.path": "\#(folder.path("store"))", \#(members) }"#
        }

        private static func load(_ folder: ScratchFolder) -> (SiteConfiguration?, [ConfigurationFault]) {
            SiteConfiguration.load(file: folder.path("app-backend.json"), environment: Environment([:]))
        }

        func reload(_ members: String) throws {
            try reload(text: Self.text(members, folder))
        }

        func reload(text: String) throws {
            try folder.write(text, to: "app-backend.json")
            Reload(
                file: folder.path("app-backend.json"), environment: Environment([:]), site: site, threshold: threshold,
                logger: log.logger
            ).run()
        }

        /// As the site answers it now.
        func realm() throws -> String? {
            let response = try site.respond(to: Request(method: .get, path: Path.config))
            return try JSONValue(parsing: response.body)["Realm"]?.string
        }

        func says(_ text: String, _ level: Logger.Level) -> Bool {
            log.lines.contains { $0.level == level && $0.text.contains(text) }
        }
    }

    @Test func `a configuration without a fault is taken`() throws {
        let bench = try Bench(#""auth.realm": "First""#)
        defer { bench.site.close() }
        #expect(try bench.realm() == "First")
        try bench.reload(#""auth.realm": "Second", "log.level": "debug""#)
        #expect(try bench.realm() == "Second")
        #expect(bench.threshold.level == .debug && bench.site.remark.isEmpty)
        #expect(bench.says("reloaded the configuration", .notice))
    }

    /// What is wrong, and how the error begins that says so.
    private static let faults: [(members: String, error: String)] = [
        (#""auth.realm": "Thi\"rd""#, "auth.realm: "), (#""auth.realm": "Third", "wrokers": 5"#, "wrokers: "),
        (#""auth.realm": "Third", "limits.sendsPerMinute": {}"#, "limits.sendsPerMinute: "),
        (#""auth.realm": "Third", "store.url": "postgresql://db.example/site""#, "store.url: "),
        // A key for browsers, and no subject to go with it.
        (#""auth.realm": "Third", "webPush.privateKeyFile": "/dev/null""#, "webPush.privateKeyFile: "),
    ]

    @Test(arguments: faults)
    func `a configuration with a fault changes nothing, and the fault is logged`(
        row: (members: String, error: String)
    ) throws {
        let bench = try Bench(#""auth.realm": "First""#)
        defer { bench.site.close() }
        try bench.reload(#"\#(row.members), "log.level": "trace""#)
        #expect(try bench.realm() == "First")
        #expect(bench.threshold.level == .info)
        #expect(bench.says("reload: configuration: \(row.error)", .error), "\(bench.log.text)")
        #expect(bench.says("reload: the former configuration stays", .error))
        #expect(bench.site.remark.hasPrefix(", the last reload was refused: "))
        #expect(!bench.says("reloaded the configuration", .notice))
    }

    /// Else a site whose key for browsers has no subject could not change anything but that.
    @Test func `a fault that the service has started with does not keep another change from being taken`() throws {
        let key = #""webPush.privateKey": "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw""#
        let bench = try Bench(#"\#(key), "auth.realm": "First""#)
        defer { bench.site.close() }
        try bench.reload(#"\#(key), "auth.realm": "Second""#)
        #expect(try bench.realm() == "Second")
        try bench.reload(#"\#(key), "auth.realm": "Third", "wns.clientId": "c""#)
        #expect(try bench.realm() == "Second")
        #expect(bench.says("reload: configuration: wns.secret: ", .error))
    }

    @Test func `a file that is no JSON changes nothing, until it is again`() throws {
        let bench = try Bench(#""auth.realm": "First""#)
        defer { bench.site.close() }
        try bench.reload(text: "{")
        #expect(try bench.realm() == "First")
        #expect(bench.says("reload: the former configuration stays", .error))
        try bench.reload(#""auth.realm": "Second""#)
        #expect(try bench.realm() == "Second")
        #expect(bench.site.remark.isEmpty)
    }

    @Test func `a store that cannot be read changes nothing`() throws {
        let bench = try Bench(#""auth.realm": "First""#)
        defer { bench.site.close() }
        // A folder is no file of users, also not for root, who may read everything.
        unlink(bench.folder.path("store/users.jsonl"))
        _ = try bench.folder.makeFolder("store/users.jsonl")
        try bench.reload(#""auth.realm": "Second""#)
        #expect(try bench.realm() == "First")
        #expect(bench.says("reload: the former configuration stays", .error))
        #expect(!bench.says("reloaded the configuration", .notice))
    }

    @Test func `the web server's word is never taken on a port, however the port was come by`() throws {
        let methods = #""auth.methods": ["web-server"]"#
        #expect(throws: ConfigurationFault.self) { try Bench(methods, listensOnPort: true) }
        let bench = try Bench(#""auth.realm": "First""#, listensOnPort: true)
        defer { bench.site.close() }
        try bench.reload(#""auth.realm": "Second", "listen": "/x.sock", \#(methods)"#)
        #expect(try bench.realm() == "First")
        #expect(bench.says("reload: the former configuration stays", .error))
    }

    /// What needs a restart, and the rest of the same file, which does not.
    @Test(arguments: [
        ("workers", "5"), ("limits.bodyBytes", "2048"), ("limits.drainSeconds", "1"), ("listen", #""127.0.0.1:9000""#),
        ("listenToRemotePeers", "true"),
    ])
    func `a key that counts from the next start is named, and the others are taken`(key: String, value: String) throws {
        let bench = try Bench(#""auth.realm": "First""#)
        defer { bench.site.close() }
        try bench.reload(#""auth.realm": "Second", "\#(key)": \#(value)"#)
        #expect(try bench.realm() == "Second")
        #expect(bench.says("reload: a restart is needed for \(key)", .warning))
        #expect(bench.site.remark == ", a restart is needed for \(key)")
        // What is still wanted is still said, and what is as it was no more.
        try bench.reload(#""auth.realm": "Third", "\#(key)": \#(value)"#)
        #expect(bench.site.remark == ", a restart is needed for \(key)")
        try bench.reload(#""auth.realm": "Third""#)
        #expect(bench.site.remark.isEmpty)
    }

    @Test func `another store waits for the next start`() throws {
        let bench = try Bench(#""auth.realm": "First""#)
        defer { bench.site.close() }
        try bench.reload(text: #"{ "store.path": "\#(bench.folder.path("other"))", "auth.realm": "Second" }"#)
        #expect(try bench.realm() == "Second")
        #expect(bench.site.remark == ", a restart is needed for store.path")
        #expect(!bench.folder.has("other"))
    }
}
