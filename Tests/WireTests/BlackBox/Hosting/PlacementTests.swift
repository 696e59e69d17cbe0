// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support
import Testing

/// A program that is started without arguments finds what belongs to it beside itself.
struct PlacementTests {
    /// A copy of the program in a folder of its own, called as web servers want it called.
    private struct Copy {
        let folder: ScratchFolder
        let program: String

        init(_ configuration: String) throws {
            folder = try ScratchFolder()
            program = folder.path("app-backend.fcgi")
            try Program.copyExecutable(Program.appBackend, to: program)
            try folder.write(configuration, to: "app-backend.json")
        }

        func exists(_ name: String) -> Bool { access(folder.path(name), F_OK) == 0 }
    }

    @Test func `the configuration is beside the program, whatever its name, and the store beside both`() throws {
        let copy = try Copy(#"{ "store": { "path": "store" } }"#)
        let outcome = try Program.run(copy.program, ["check"])
        #expect(outcome.status == 0 && outcome.output.contains("store:  \(copy.folder.path("store"))\n"))
        #expect(copy.exists("store/store.json"))
    }

    @Test func `through a link the program finds what is beside itself, not beside the link`() throws {
        let copy = try Copy(#"{ "store": { "path": "store" } }"#)
        let web = try ScratchFolder()
        #expect(symlink(copy.program, web.path("app-backend.fcgi")) == 0)
        try web.write("no configuration", to: "app-backend.json")
        #expect(try Program.run(web.path("app-backend.fcgi"), ["check"]).status == 0)
        #expect(copy.exists("store/store.json"))
    }

    @Test func `a relative path begins at the configuration's folder, wherever the program runs`() throws {
        let copy = try Copy(
            #"{ "store": { "path": "a/../store" }, "webPush": { "privateKeyFile": "keys/push.key" } }"#)
        _ = try copy.folder.makeFolder("keys")
        for name in ["app-backend.json", "../\(URL(filePath: copy.folder.path).lastPathComponent)/app-backend.json"] {
            let shell = #"cd "$1" && mkdir -p a && exec "$2" keys vapid --config "$3""#
            let made = try Program.run("/bin/sh", ["-c", shell, "sh", copy.folder.path, Program.appBackend, name])
            #expect(made.status == 0, "\(made.errors)")
        }
        #expect(copy.exists("keys/push.key"))
        // What was moved as a whole is whole.
        let moved = try ScratchFolder()
        #expect(rename(copy.folder.path, moved.path("site")) == 0)
        defer { rename(moved.path("site"), copy.folder.path) }
        let shown = try Program.run(
            Program.appBackend, ["keys", "vapid", "--config", moved.path("site/app-backend.json")])
        #expect(shown.complaints.first == "the private key is in \(moved.path("site"))/keys/push.key")
    }

    @Test func `certificates are looked for there as well`() throws {
        let copy = try Copy(#"{ "store": { "path": "store" }, "hub": { "caFile": "ca.pem" } }"#)
        #expect(try Program.run(copy.program, ["check"]).errors.contains("hub.caFile"))
        try copy.folder.write("-----BEGIN CERTIFICATE-----\n", to: "ca.pem")
        #expect(try Program.run(copy.program, ["check"]).status == 0)
    }

    @Test func `without a configuration file a relative path leads nowhere`() throws {
        try #require(access("/etc/app-backend/app-backend.json", F_OK) != 0, "this host has a configuration")
        let outcome = try Program.run(
            Program.appBackend, ["check"],
            environment: ["APP_BACKEND_STORE_PATH=store", "APP_BACKEND_WEB_PUSH_PRIVATE_KEY_FILE=vapid.key"])
        #expect(outcome.status == 1 && outcome.complaints.count == 2)
        #expect(outcome.complaints.allSatisfy { $0.contains("must be an absolute path") })
    }

    @Test func `without a command it serves`() throws {
        let copy = try Copy(#"{ "store": { "path": "store" } }"#)
        // There is no socket, and only who serves wants one.
        let outcome = try Program.run(copy.program, [])
        #expect(outcome.status == 1 && outcome.errors.contains("no socket was passed"))
        let named = try Program.run(copy.program, ["--config", copy.folder.path("nowhere.json")])
        #expect(named.status == 1 && named.errors.contains("nowhere.json"))
        #expect(try Program.run(copy.program, ["nonsense"]).status != 0)
    }
}
