// SPDX-License-Identifier: Apache-2.0
import Support
import Testing

@testable import Server

/// What a command of root's reads of the unit: the files that systemd hands to the service.
struct ServiceUnitTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        var credentials: [String: String] = [:]
        var groups: [String] = []

        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "a comment loads nothing", text: "[Service]\n#LoadCredential=apns.key:/etc/app-backend/apns.key\n"),
        Row(
            name: "a drop-in adds",
            text: "[Service]\nLoadCredential=a:/a\n\n# /etc/x.conf\n[Service]\n LoadCredential = b:/b \n",
            credentials: ["a": "/a", "b": "/b"]),
        Row(
            name: "an empty value takes back those before it",
            text: "[Service]\nLoadCredential=a:/a\nSupplementaryGroups=one\n[Service]\nLoadCredential=\n"
                + "SupplementaryGroups=\nSupplementaryGroups=two three\nLoadCredential=b:/b\n",
            credentials: ["b": "/b"], groups: ["two", "three"]),
        Row(
            name: "a line may go on", text: "[Service]\nLoadCredential=\\\n  a:/a b\nUser=x\n",
            credentials: ["a": "/a b"]),
        Row(
            name: "another section, a specifier and a name without a path are passed over",
            text:
                "[Unit]\nLoadCredential=a:/a\n[Service]\nLoadCredential=b:%d/b\nLoadCredential=c\nLoadCredential=d:d\n"),
    ]

    @Test(arguments: rows) func `credentials and groups are read as systemd reads them`(row: Row) {
        let unit = ServiceUnit(row.text)
        #expect(unit.credentials == row.credentials && unit.groups == row.groups)
    }

    @Test func `a command has the files that the unit loads, and no other of their folder`() throws {
        let folder = try ScratchFolder()
        try folder.write("postgresql://localhost/app", to: "store.url")
        try folder.write("one", to: "wns.secret")
        let file = try folder.write("{}", to: "app-backend.json")
        let unit = ServiceUnit("[Service]\nLoadCredential=store.url:\(folder.path("store.url"))\n")
        let (read, faults) = SiteConfiguration.load(file: file, environment: Environment([:], unit: unit))
        #expect(faults.isEmpty && read?.store.key == "store.url")
        // Where the variable is set, the folder that it names counts, with all that is in it.
        let given = Environment(["CREDENTIALS_DIRECTORY": folder.path], unit: unit)
        let needed = SiteConfiguration.load(file: file, environment: given).1
        #expect(!needed.isEmpty && needed.allSatisfy { $0.key.hasPrefix("wns.") }, "\(needed)")
    }

    @Test(
        arguments: [
            ("ProtectHome=yes", "/home/me/store", "ProtectHome="), ("ProtectHome=tmpfs", "/root/store", "ProtectHome="),
            ("PrivateTmp=yes", "/tmp/store", "PrivateTmp="), ("PrivateTmp=true", "/var/tmp/store", "PrivateTmp="),
            ("ProtectHome=read-only", "/home/me/store", nil), ("ProtectHome=yes", "/homes/store", nil),
            ("ProtectHome=yes\nProtectHome=no", "/home/me/store", nil), ("PrivateTmp=yes", "/home/me/store", nil),
            ("ProtectHome=yes\nBindPaths=/home/me/store", "/home/me/store", nil),
            ("ProtectHome=yes\nBindPaths=/srv/x:/home/me:rbind", "/home/me/store", nil),
            ("ProtectSystem=strict\nStateDirectory=app-backend", "/srv/store", "ReadWritePaths="),
            ("ProtectSystem=strict\nStateDirectory=app-backend", "/var/lib/app-backend", nil),
            ("ProtectSystem=strict\nReadWritePaths=-/srv/a /srv/b", "/srv/b/store", nil),
            ("ProtectSystem=strict\nBindReadOnlyPaths=/srv", "/srv/store", "ReadWritePaths="),
            ("ProtectSystem=full", "/srv/store", nil),
            ("ProtectSystem=strict\nReadWritePaths=/srv\nReadWritePaths=", "/srv/store", "ReadWritePaths="),
            ("ProtectSystem=strict\nReadWritePaths=/srv\nReadWritePaths=\nReadWritePaths=/opt", "/opt/store", nil),
            ("ProtectSystem=strict\nReadWritePaths=/srv\nStateDirectory=", "/srv/store", nil),
            (
                "ProtectSystem=strict\nStateDirectory=app-backend\nStateDirectory=", "/var/lib/app-backend",
                "ReadWritePaths="
            ),
            ("ProtectSystem=strict\nBindPaths=/srv\nBindReadOnlyPaths=", "/srv/store", "ReadWritePaths="),
            ("ProtectHome=yes\nBindPaths=/home/me/store\nBindPaths=", "/home/me/store", "ProtectHome="),
            ("ProtectSystem=strict\nCacheDirectory=a b", "/var/cache/b/store", nil),
            ("ProtectSystem=strict\nLogsDirectory=a", "/var/log/a", nil),
            ("ProtectSystem=strict\nRuntimeDirectory=a/b:c", "/run/a/b/store", nil),
            ("ProtectSystem=strict\nStateDirectory=a::ro", "/var/lib/a", "ReadWritePaths="),
            ("ProtectSystem=strict\nConfigurationDirectory=a", "/etc/a", "ReadWritePaths="),
            ("ProtectSystem=strict\nReadWritePaths=%S/other", "/var/lib/other", nil),
            ("ProtectHome=yes\nBindPaths=%h/store", "/root/store", nil),
        ] as [(String, String, String?)])
    func `a store that the unit hides from the service, or does not let it write, is a fault of a command`(
        line: String, path: String, setting: String?
    ) throws {
        let folder = try ScratchFolder()
        let file = try folder.write(#"{ "store": { "path": "\#(path)" } }"#, to: "app-backend.json")
        let unit = ServiceUnit("[Service]\n\(line)\n")
        let faults = SiteConfiguration.load(file: file, environment: Environment([:], unit: unit)).1
        #expect(faults.map(\.key) == (setting == nil ? [] : ["store.path"]))
        #expect(faults.first?.reason.contains(setting ?? "") ?? true)
    }

    @Test func `a file that the unit loads and that is missing is a fault`() throws {
        let folder = try ScratchFolder()
        let file = try folder.write(#"{ "store": { "path": "/s" } }"#, to: "app-backend.json")
        let unit = ServiceUnit("[Service]\nLoadCredential=webPush.privateKey:\(folder.path("none"))\n")
        let faults = SiteConfiguration.load(file: file, environment: Environment([:], unit: unit)).1
        #expect(faults.map(\.key) == ["webPush.privateKey"])
    }
}
