// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support
import Testing

/// A secret that others of the host may read.
struct ExposureTests {
    private static let key = "0123456789abcdef0123456789abcdef"

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

/// A configuration that others of the host may change.
struct ForeignWriterTests {
    @Test(arguments: [["check"], ["serve"], ["doctor"]])
    func `a configuration that others may write is refused with the command that corrects it`(command: [String]) throws
    {
        let folder = try ScratchFolder()
        let file = try folder.write(
            #"{ "listen": "\#(folder.path("socket"))", "store": { "path": "\#(folder.path("store"))" } }"#,
            to: "app-backend.json")
        #expect(chmod(file, 0o664) == 0)
        let refused = try Program.run(Program.appBackend, command + ["--config", file])
        #expect(refused.status != 0 && (refused.errors + refused.output).contains("chmod go-w \(file)"))
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
            let warning = "localHub.key: is in a file that others may read or change (mode 644)"
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
