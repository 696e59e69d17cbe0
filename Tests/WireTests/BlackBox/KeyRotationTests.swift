// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support
import Testing

/// `app-backend keys vapid --rotate`: no key is lost, and none is forgotten before the command says so.
struct KeyRotationTests {
    private static func run(_ folder: ScratchFolder, _ arguments: String...) throws -> Program.Outcome {
        if !folder.has("app-backend.json") {
            try folder.write(
                #"{ "store": { "path": "\#(folder.path("store"))" }, "webPush": { "subject": "mailto:a@example.com" } }"#,
                to: "app-backend.json")
        }
        return try Program.run(Program.appBackend, arguments + ["--config", folder.path("app-backend.json")])
    }

    private static func text(_ folder: ScratchFolder, _ name: String) throws -> String {
        try String(contentsOfFile: folder.path("store/\(name)"), encoding: .utf8)
    }

    @Test func `a rotation makes another key and keeps the former one`() throws {
        let folder = try ScratchFolder()
        let first = try Self.run(folder, "keys", "vapid").output
        let key = try Self.text(folder, "vapid.key")
        let rotated = try Self.run(folder, "keys", "vapid", "--rotate")
        #expect(rotated.status == 0 && rotated.output != first && rotated.output.utf8.count == 88)
        #expect(try Self.text(folder, "vapid.key.former") == key && Self.text(folder, "vapid.key") != key)
        var status = stat()
        #expect(stat(folder.path("store/vapid.key.former"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try Self.run(folder, "keys", "vapid").output == rotated.output)
        let check = try Self.run(folder, "check").output
        #expect(check.contains(rotated.output) && check.contains("and 1 kept from before a rotation"))
        #expect(!(rotated.errors + check).contains(key.dropLast()))
    }

    @Test func `so many are kept, the latest first, until they are dropped`() throws {
        let folder = try ScratchFolder()
        var keys: [String] = []
        for _ in 0...4 {
            #expect(try Self.run(folder, "keys", "vapid", "--rotate").status == 0)
            keys.insert(try Self.text(folder, "vapid.key"), at: 0)
        }
        #expect(try Self.text(folder, "vapid.key.former") == keys.dropFirst().joined())
        let fifth = try Self.run(folder, "keys", "vapid", "--rotate")
        #expect(fifth.status == 1 && fifth.errors.contains("--drop-former") && fifth.output.isEmpty)
        #expect(try Self.text(folder, "vapid.key") == keys[0])
        let dropped = try Self.run(folder, "keys", "vapid", "--drop-former")
        #expect(dropped.status == 0 && !folder.has("store/vapid.key.former"))
        #expect(try Self.text(folder, "vapid.key") == keys[0])
        #expect(try Self.run(folder, "keys", "vapid", "--drop-former").complaints.first == "no former key was kept")
    }

    @Test func `rotations at once lose no key`() async throws {
        let folder = try ScratchFolder()
        #expect(try Self.run(folder, "keys", "vapid").status == 0)
        let first = try Self.text(folder, "vapid.key")
        let printed = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 { group.addTask { try Self.run(folder, "keys", "vapid", "--rotate").output } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(printed.count == 4 && !printed.contains(""))
        let kept = try Self.text(folder, "vapid.key.former").split(separator: "\n")
        #expect(Set(kept).count == 4 && kept.last.map { $0 + "\n" } == first)
        #expect(try printed.contains(Self.run(folder, "keys", "vapid").output))
    }

    @Test func `a key of the configuration is not rotated here`() throws {
        let folder = try ScratchFolder()
        try folder.write(
            """
            { "store": { "path": "\(folder.path("store"))" }, "webPush": { "subject": "mailto:a@example.com",
              "privateKey": "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
              "formerPrivateKey": "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94" } }
            """, to: "app-backend.json")
        let refused = try Self.run(folder, "keys", "vapid", "--rotate")
        #expect(refused.status == 1 && refused.errors.contains("webPush.formerPrivateKey"))
        #expect(try Self.run(folder, "check").output.contains("and 1 kept from before a rotation"))
        #expect(try Self.run(folder, "keys", "vapid", "--rotate", "--drop-former").status == 64)
    }
}
