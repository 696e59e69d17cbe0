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

    @Test(arguments: rows, [0o600, 0o640, 0o604, 0o644] as [mode_t])
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

    @Test(arguments: [0o600, 0o640, 0o644, 0o660, 0o602, 0o664, 0o666] as [mode_t])
    func `a file that decides who is who is refused where others may change it`(mode: mode_t) throws {
        let folder = try ScratchFolder()
        let keys = #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#
        let file = try folder.write(keys, to: "keys.json")
        let authorities = try folder.write("-----BEGIN CERTIFICATE-----", to: "ca.pem")
        let issuers = [#""jwksFile": "keys.json""#, #""jwksUrl": "https://a.example/", "caFile": "ca.pem""#]
            .enumerated()
            .map { #"{ "issuer": "i\#($0.offset)", "prefix": "p\#($0.offset)", "audience": ["a"], \#($0.element) }"# }
        let configuration = try folder.write(
            #"{ "store": { "path": "/s" }, "auth": { "issuers": [\#(issuers.joined(separator: ","))] } }"#,
            to: "app-backend.json")
        for (path, key) in [
            (configuration, configuration), (file, "auth.issuers.0.jwksFile"), (authorities, "auth.issuers.1.caFile"),
        ] {
            #expect(chmod(path, mode) == 0)
            let (_, faults) = SiteConfiguration.load(file: configuration, environment: Environment([:]))
            #expect(faults.map(\.key) == (mode & 0o022 == 0 ? [] : [key]))
            #expect(faults.allSatisfy { $0.reason.hasSuffix("chmod go-w \(path)") })
            #expect(chmod(path, 0o600) == 0)
        }
    }
}
