// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support
import Testing
import Text

/// `app-backend keys vapid`, and what `app-backend check` says of browsers.
struct KeysTests {
    private static let rfcKey = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    private static let rfcPublicKey =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
    private static let subject = #""subject": "mailto:push@example.com""#

    /// A configuration in a folder of its own.
    private struct Bench {
        let folder: ScratchFolder
        let store: String

        init(_ webPush: String = "", members: String = "") throws {
            folder = try ScratchFolder()
            store = folder.path("store")
            try folder.write(
                #"{ "store": { "path": "\#(store)" }, "webPush": { \#(webPush) } \#(members) }"#, to: "app-backend.json"
            )
        }

        var keyFile: String { store + "/vapid.key" }

        func run(_ command: String..., environment: [String] = []) throws -> Program.Outcome {
            try Program.run(
                Program.appBackend, command + ["--config", folder.path("app-backend.json")], environment: environment)
        }

        func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

        func status(_ path: String) -> stat? {
            var status = stat()
            return lstat(path, &status) == 0 ? status : nil
        }
    }

    @Test func `a key is made once, for its owner's eyes only`() throws {
        let bench = try Bench(Self.subject)
        let made = try bench.run("keys", "vapid")
        let publicKey = try #require(made.output.split(separator: "\n").first)
        #expect(made.status == 0 && made.output == publicKey + "\n" && publicKey.utf8.count == 87)
        #expect(made.complaints == ["the private key is in \(bench.keyFile)"])
        #expect(bench.status(bench.keyFile)?.st_mode == S_IFREG | 0o600)
        #expect(bench.status(bench.store)?.st_mode == S_IFDIR | 0o700)
        let key = try bench.text(bench.keyFile)
        #expect(Base64.url.decode(key.dropLast())?.count == 32 && key.last == "\n")

        let again = try bench.run("keys", "vapid")
        #expect(again.status == 0 && again.output == made.output && again.errors == made.errors)
        #expect(try bench.text(bench.keyFile) == key)
        let names = try FileManager.default.contentsOfDirectory(atPath: bench.store)
        #expect(names.filter { $0.contains("vapid") } == ["vapid.key"])

        let check = try bench.run("check")
        #expect(check.status == 0)
        #expect(check.output.contains("push:   browsers, as mailto:push@example.com, public key \(publicKey)\n"))
        for said in [made, again, check] { #expect(!(said.output + said.errors).contains(key.dropLast())) }
    }

    @Test func `another key is made elsewhere, and in another store`() throws {
        let first = try Bench()
        let folder = try ScratchFolder()
        let second = try Bench(#""privateKeyFile": "\#(folder.path("push.key"))""#)
        let keys = try [first, second].map { try $0.run("keys", "vapid") }
        #expect(keys[0].output != keys[1].output)
        #expect(keys[1].complaints.first == "the private key is in \(folder.path("push.key"))")
        // What is still missing is said as well.
        #expect(keys[1].errors.contains("webPush.subject"))
        #expect(second.status(folder.path("push.key"))?.st_mode == S_IFREG | 0o600)
        #expect(second.status(second.keyFile) == nil)
    }

    @Test func `a key that the operator brings is taken`() throws {
        let bench = try Bench(Self.subject)
        try FileManager.default.createDirectory(
            atPath: bench.store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try bench.folder.write(Self.rfcKey + "\r\n", to: "store/vapid.key")
        #expect(try bench.run("keys", "vapid").output == Self.rfcPublicKey + "\n")
        // A service in the group of the key's owner reads it, too.
        #expect(chmod(bench.keyFile, 0o640) == 0)
        #expect(try bench.run("check").output.contains(Self.rfcPublicKey))
    }

    static let refused: [(String, mode_t)] = [
        ("", 0o600), ("secret-but-no-key\n", 0o600), (String(repeating: "A", count: 5000), 0o600),
        (rfcKey, 0o604), (rfcKey, 0o644), (rfcKey, 0o620), (rfcKey, 0o666),
    ]

    @Test(arguments: refused)
    func `a file that is no key, or no secret, is refused with words and left alone`(text: String, mode: mode_t) throws
    {
        let bench = try Bench(Self.subject)
        #expect(try bench.run("check").status == 0)
        try bench.folder.write(text, to: "store/vapid.key")
        #expect(chmod(bench.keyFile, mode) == 0)
        for command in [["keys", "vapid"], ["check"]] {
            let outcome = try Program.run(
                Program.appBackend, command + ["--config", bench.folder.path("app-backend.json")])
            #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errors.contains("vapid.key"))
            #expect(text.isEmpty || !outcome.errors.contains(text.prefix(20)))
        }
        #expect(try bench.text(bench.keyFile) == text)
    }

    @Test func `a folder, a pipe and a place that cannot be written are refused`() throws {
        let bench = try Bench()
        try FileManager.default.createDirectory(
            atPath: bench.keyFile, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #expect(chmod(bench.store, 0o700) == 0)
        #expect(try bench.run("keys", "vapid").status == 1)
        #expect(rmdir(bench.keyFile) == 0 && mkfifo(bench.keyFile, 0o600) == 0)
        #expect(try bench.run("keys", "vapid").errors.contains("is not a file"))
        let nowhere = try Bench(#""privateKeyFile": "/nowhere/vapid.key""#)
        let outcome = try nowhere.run("keys", "vapid")
        #expect(outcome.status == 1 && outcome.errors.contains("/nowhere/vapid.key cannot be made"))
        let open = try Bench(#""privateKeyFile": "/etc/passwd""#)
        for command in ["keys vapid", "check"] {
            let outcome = try Program.run(
                Program.appBackend,
                command.split(separator: " ").map(String.init) + ["--config", open.folder.path("app-backend.json")])
            #expect(outcome.status == 1 && outcome.errors.contains("/etc/passwd has mode"))
        }
    }

    @Test func `of many who make it at once all have the same`() throws {
        let bench = try Bench(Self.subject)
        let output = bench.folder.path("out")
        let processes = try (0..<12).map { _ in
            try ChildProcess(
                Program.appBackend, ["keys", "vapid", "--config", bench.folder.path("app-backend.json")], output: output
            )
        }
        #expect(processes.map { $0.wait(seconds: 60) } == Array(repeating: 0, count: 12))
        let lines = try bench.text(output).split(separator: "\n")
        #expect(lines.count == 12 && Set(lines).count == 1)
    }

    @Test func `a key of the environment or of a credential wins, and no file is made`() throws {
        let bench = try Bench(Self.subject)
        let environment = ["APP_BACKEND_WEB_PUSH_PRIVATE_KEY=\(Self.rfcKey)"]
        let outcome = try bench.run("keys", "vapid", environment: environment)
        #expect(outcome.status == 0 && outcome.output == Self.rfcPublicKey + "\n")
        #expect(outcome.errors.contains("webPush.privateKey") && !outcome.errors.contains(Self.rfcKey))
        #expect(bench.status(bench.keyFile) == nil)
        #expect(try bench.run("check", environment: environment).output.contains(Self.rfcPublicKey))

        let credentials = try bench.folder.makeFolder("credentials")
        try bench.folder.write(Self.rfcKey + "\n", to: "credentials/webPush.privateKey")
        let check = try bench.run("check", environment: ["CREDENTIALS_DIRECTORY=\(credentials)"])
        #expect(check.output.contains(Self.rfcPublicKey))
    }

    @Test func `a check says why browsers are not pushed to`() throws {
        let bench = try Bench()
        #expect(try bench.run("check").output.contains("push:   no browsers: there is no key"))
        #expect(try bench.run("keys", "vapid").status == 0)
        let unfinished = try bench.run("check")
        #expect(unfinished.status == 1 && unfinished.errors.contains("webPush.subject"))

        let connection = "Endpoint=sb://a.example/;SharedAccessKeyName=n;SharedAccessKey=\(Self.rfcKey)="
        let external = try Bench(
            #""publicKey": "\#(Self.rfcPublicKey)""#, members: #", "hub": { "connectionString": "\#(connection)" }"#)
        #expect(try external.run("check").output.contains("push:   no browsers: the hub of hub.connectionString"))
        let without = try Bench(members: #", "hub": { "platforms": ["apns"] }"#)
        #expect(try without.run("check").output.contains("push:   no browsers: hub.platforms has no browser"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make what another user owns"))
    func `what root makes belongs to the store's owner`() throws {
        let unprivileged: uid_t = 65_534
        let folder = try ScratchFolder()
        for webPush in ["", #""privateKeyFile": "\#(folder.path("vapid.key"))""#] {
            let bench = try Bench(webPush)
            #expect(mkdir(bench.store, 0o700) == 0 && chown(bench.store, unprivileged, unprivileged) == 0)
            let made = try bench.run("keys", "vapid")
            #expect(made.status == 0)
            let file = try #require(bench.status(webPush.isEmpty ? bench.keyFile : folder.path("vapid.key")))
            #expect(file.st_uid == unprivileged && file.st_gid == unprivileged && file.st_mode == S_IFREG | 0o600)
            #expect(try bench.run("keys", "vapid").output == made.output)
        }
    }
}
