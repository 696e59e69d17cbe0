// SPDX-License-Identifier: Apache-2.0
import Glibc
import Support
import Testing

@testable import Server

/// A configuration with secrets that others of the host may read or change.
struct ExposureTests {
    private static let key = "0123456789abcdef0123456789abcdef"
    private static let vapid = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    private static let connection = "Endpoint=sb://127.0.0.1:1/;SharedAccessKeyName=n;SharedAccessKey=\(key)"

    /// Members of the file, and the key that is a secret; nil: there is none.
    static let rows: [(members: String, key: String?)] = [
        (#""hub": { "connectionString": "\#(connection)" }"#, "hub.connectionString"),
        (#""localHub": { "key": "\#(key)" }"#, "localHub.key"),
        (#""localHub": { "keys": ["SharedAccessKeyName=a;Rights=Send;PrimaryKey=\#(key)"] }"#, "localHub.keys"),
        (#""webPush": { "privateKey": "\#(vapid)", "subject": "mailto:a@example.com" }"#, "webPush.privateKey"),
        (#""webPush": { "proxy": "http://me:\#(key)@proxy.example:3128" }"#, "webPush.proxy"),
        (#""hub": { "proxy": "http://me:\#(key)@proxy.example:3128" }"#, "hub.proxy"),
        (#""webPush": { "proxy": "http://proxy.example:3128" }"#, nil), (#""workers": 4"#, nil),
    ]

    @Test(arguments: rows, [0o600, 0o640, 0o604, 0o644, 0o660, 0o666] as [mode_t])
    func `a file with secrets that is open to others is named`(row: (members: String, key: String?), mode: mode_t)
        throws
    {
        let folder = try ScratchFolder()
        let file = try folder.write(#"{ "store": { "path": "/s" }, \#(row.members) }"#, to: "app-backend.json")
        #expect(chmod(file, mode) == 0)
        let (configuration, faults) = SiteConfiguration.load(file: file, environment: Environment([:]))
        let exposures = try #require(configuration).exposures
        let isExposed = row.key != nil && mode & 0o027 != 0
        #expect(faults.isEmpty && exposures.map(\.key) == (isExposed ? [row.key] : []))
        let said = exposures.map(\.description).joined()
        #expect(!said.contains(Self.key) && said.contains("(mode \(String(mode, radix: 8)))") == isExposed)
    }
}
