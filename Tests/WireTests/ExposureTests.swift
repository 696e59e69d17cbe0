// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Processes
import Testing

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
        (#""webPush": { "privateKey": "\#(vapid)", "subject": "mailto:a@b.example" }"#, "webPush.privateKey"),
        (#""webPush": { "proxy": "http://me:\#(key)@proxy.example:3128" }"#, "webPush.proxy"),
        (#""hub": { "proxy": "http://me:\#(key)@proxy.example:3128" }"#, "hub.proxy"),
        (#""webPush": { "proxy": "http://proxy.example:3128" }"#, nil), (#""workers": 4"#, nil),
    ]

    @Test(arguments: rows, [0o600, 0o640, 0o604, 0o644, 0o660, 0o666] as [mode_t])
    func `check and doctor refuse a file with secrets that is open to others`(
        row: (members: String, key: String?), mode: mode_t
    ) throws {
        let folder = try ScratchFolder()
        let file = try folder.write(
            #"{ "store": { "path": "\#(folder.path("store"))" }, \#(row.members) }"#, to: "app-backend.json")
        #expect(chmod(file, mode) == 0)
        let isExposed = row.key != nil && mode & 0o027 != 0
        let check = try Program.run(Program.appBackend, ["check", "--config", file])
        #expect(check.status == (isExposed ? 1 : 0), "\(check.errors)")
        #expect(!(check.output + check.errors).contains(Self.key))
        guard let key = row.key, isExposed else { return }
        #expect(check.output.isEmpty && check.complaints.count == 1)
        #expect(check.errors.contains("\(key): ") && check.errors.contains("(mode \(String(mode, radix: 8)))"))
    }

    @Test func `a credential that others may read is refused`() throws {
        let folder = try ScratchFolder()
        let credentials = try folder.makeFolder("credentials")
        let secret = try folder.write(Self.key, to: "credentials/localHub.key")
        let file = try folder.write(
            #"{ "store": { "path": "\#(folder.path("store"))" } }"#, to: "app-backend.json")
        func check() throws -> Program.Outcome {
            try Program.run(
                Program.appBackend, ["check", "--config", file], environment: ["CREDENTIALS_DIRECTORY=\(credentials)"])
        }
        #expect(try check().status == 0)
        #expect(chmod(secret, 0o644) == 0)
        let open = try check()
        #expect(open.status == 1 && open.errors.contains("localHub.key: ") && open.errors.contains(secret))
    }
}

extension WireTests {
    /// The same, of a service that runs.
    struct ExposureStories {
        @Test func `the service goes on and says so, and the doctor names the file`() throws {
            let folder = try ScratchFolder()
            let key = "0123456789abcdef0123456789abcdef"
            let backend = try BackendProcess(
                "open", in: folder,
                keys: #""store": { "path": "\#(folder.path("store"))" }, "localHub": { "key": "\#(key)" }"#)
            defer { backend.stop() }
            #expect(!backend.log.contains("localHub.key"))
            backend.stop()
            #expect(chmod(backend.configuration, 0o644) == 0)
            try backend.start()
            let warning = "localHub.key: stands in a file that others may read or change (mode 644)"
            #expect(Deadline.poll(seconds: 60) { backend.log.contains(warning) })
            #expect(!backend.log.contains(key))
            let outcome = try Program.run(
                Program.appBackend, ["doctor", "--json", "--config", backend.configuration, "--timeout", "60"])
            let diagnosis = try Diagnosis(outcome)
            #expect(diagnosis.wrong.contains("configuration"))
            #expect(diagnosis.found("configuration").contains("localHub.key: "))
            #expect(diagnosis.found("configuration").contains(backend.configuration))
        }
    }
}
