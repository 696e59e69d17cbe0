// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSON
import Support
import Testing

extension WireTests {
    /// What an administrator does with the store of a server that is running.
    struct StoreStories {
        @Test func `the store of a running server is whole, in words and as JSON`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            _ = try site.register(alice, handle: site.makeHandle())
            let words = try site.run("store", "verify")
            #expect(words.status == 0 && words.output.contains("The store is whole"))
            // Its output is not a terminal, so it shows no progress.
            #expect(words.complaints.isEmpty)
            let report = try JSONValue(parsing: Array(site.run("store", "verify", "--json").output.utf8.dropLast()))
            #expect(report["whole"]?.bool == true && report["faults"]?.array == [])
            #expect(try #require(report["lines"]?.integer) > 0)
        }

        @Test func `a backup of a running server's store is unpacked, verified, and serves again`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let id = try site.register(alice, handle: site.makeHandle())
            let folder = try ScratchFolder()
            let copy = try folder.makeFolder("store")
            let made = try shell(
                #""$1" store backup --config "$2" > "$3.tar" && tar -xf "$3.tar" -C "$3""#,
                [Program.appBackend, site.backend.configuration, copy])
            #expect(made.status == 0)
            let verified = try site.run("store", "verify", "--folder", copy, "--json")
            #expect(verified.status == 0)
            #expect(try JSONValue(parsing: Array(verified.output.utf8.dropLast()))["unopenedCopy"]?.bool == true)
            let configuration = try folder.write(#"{"store":{"path":"\#(copy)"}}"#, to: "copy.json")
            #expect(try FileManager.default.contentsOfDirectory(atPath: copy).contains("lock") == false)
            let users = try Program.run(Program.appBackend, ["user", "list", "--config", configuration])
            #expect(users.output.split(separator: "\n").contains(Substring(alice.name)))
            #expect(try shell(#"grep -rqF "$1" "$2/devices""#, [id, copy]).status == 0)
            // An index is nothing but what the records say, and without its mark it is made from them.
            try FileManager.default.removeItem(atPath: copy + "/owners")
            let unlisted = try site.run("store", "verify", "--folder", copy)
            #expect(unlisted.status == 1 && unlisted.output.contains("No line of the store is lost"))
            #expect(unlisted.output.contains("indexed.json"))
            try FileManager.default.removeItem(atPath: copy + "/indexed.json")
            #expect(try Program.run(Program.appBackend, ["user", "list", "--config", configuration]).status == 0)
            #expect(try site.run("store", "verify", "--folder", copy).status == 0)
        }

        /// A store with one user.
        private func makeStore(in folder: ScratchFolder) throws -> (store: String, configuration: String) {
            let store = try folder.makeFolder("store")
            let configuration = try folder.write(#"{"store":{"path":"\#(store)"}}"#, to: "c.json")
            let added = try Program.run(
                Program.appBackend, ["user", "add", "alice", "--config", configuration], input: .text("secret\n"))
            #expect(added.status == 0)
            return (store, configuration)
        }

        @Test func `a store that is hurt is said to be, line by line, and the status is 1`() throws {
            let folder = try ScratchFolder()
            let (store, configuration) = try makeStore(in: folder)
            try shell(#"echo '{"id":"bob","passwordHash":7}' >> "$1/users.jsonl""#, [store])
            let verified = try Program.run(Program.appBackend, ["store", "verify", "--config", configuration])
            #expect(verified.status == 1)
            #expect(verified.output.hasPrefix("users.jsonl:2: "))
            #expect(!verified.output.contains("bob"))
        }

        @Test func `a backup has all that is worth keeping, follows links, and fails where something cannot be read`()
            throws
        {
            let folder = try ScratchFolder()
            let (store, configuration) = try makeStore(in: folder)
            try folder.write("key\n", to: "elsewhere")
            try shell(#"cd "$1" && touch users.jsonl.tmp && ln -s ../elsewhere vapid.key"#, [store])
            let copy = try folder.makeFolder("copy")
            let backup = #""$1" store backup --config "$2" > "$3.tar" && tar -xf "$3.tar" -C "$3""#
            #expect(try shell(backup, [Program.appBackend, configuration, copy]).status == 0)
            let names = Set(try FileManager.default.contentsOfDirectory(atPath: copy))
            #expect(names.isSuperset(of: ["store.json", "users.jsonl", "vapid.key", "notifications", "hub"]))
            #expect(names.isDisjoint(with: ["lock", "indexed.json", "users.jsonl.tmp"]))
            #expect(try String(contentsOfFile: copy + "/vapid.key", encoding: .utf8) == "key\n")
            try shell(#"ln -s nowhere "$1/dangling""#, [store])
            let failed = try shell(backup, [Program.appBackend, configuration, copy])
            #expect(failed.status == 1 && failed.errors.contains("dangling"))
            let empty = try folder.write(#"{"store":{"path":"\#(folder.path)"}}"#, to: "empty.json")
            #expect(try shell(backup, [Program.appBackend, empty, copy]).status == 1)
        }

        @Test
        func
            `an archive is restored into an empty folder, whole or not at all, without the parts that an option names`()
            throws
        {
            let folder = try ScratchFolder()
            let (store, configuration) = try makeStore(in: folder)
            try shell(
                #"mkdir -p "$1/hub/due" "$1/sessions" && touch "$1/hub/due/x" "$1/sessions/00.jsonl" "$1/scheduled.jsonl""#,
                [store])
            let archive = folder.path("store.tar")
            let backup = #""$1" store backup --config "$2" > "$3""#
            #expect(try shell(backup, [Program.appBackend, configuration, archive]).status == 0)
            func restore(_ words: String...) throws -> Program.Outcome {
                try Program.run(
                    Program.appBackend, ["store", "restore", "--config", configuration] + words, input: .file(archive))
            }
            let besideOne = try restore(archive)
            #expect(besideOne.status == 1 && besideOne.errors.contains("is not empty"))
            // As systemd leaves it: a link to a folder that was moved away.
            try shell(#"mv "$1" "$1.old" && ln -s "$(basename "$1").new" "$1""#, [store])
            let restored = try restore("--without-queue")
            #expect(restored.status == 0 && restored.output.contains("The store is whole"), "\(restored.errors)")
            #expect(restored.output.hasSuffix("Restored \(store).new. Start the service.\n"))
            let names = try FileManager.default.contentsOfDirectory(atPath: store + ".new")
            #expect(names.contains("sessions") && names.contains("store.json") && !names.contains("scheduled.jsonl"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: store + ".new/hub").contains("due") == false)
            #expect(try shell(#"stat -c %a "$1/.""#, [store]).output == "700\n")
            #expect(
                try Program.run(Program.appBackend, ["user", "list", "--config", configuration]).output == "alice\n")
            // A folder that is there gives what is in it to its owner.
            try shell(#"rm -rf "$1.new" && mkdir -m 750 "$1.new""#, [store])
            #expect(try restore("--without-log-ins", archive).status == 0)
            #expect(try shell(#"test ! -e "$1/sessions" && stat -c %a "$1/.""#, [store]).output == "750\n")
        }

        @Test func `a damaged archive, or another file, restores nothing`() throws {
            let folder = try ScratchFolder()
            let (store, configuration) = try makeStore(in: folder)
            let archive = folder.path("store.tar")
            try shell(#"echo '{"id":"bob","passwordHash":7}' >> "$1/users.jsonl""#, [store])
            let backup = #""$1" store backup --config "$2" > "$3" && rm -rf "$4""#
            #expect(try shell(backup, [Program.appBackend, configuration, archive, store]).status == 0)
            func restore(_ words: String...) throws -> Program.Outcome {
                try Program.run(Program.appBackend, ["store", "restore", "--config", configuration] + words)
            }
            let empty = folder.path("empty.tar")
            try shell(#"tar -cf "$1" -T /dev/null"#, [empty])
            for (file, error) in [
                (archive, "Nothing is restored"), (configuration, "tar cannot unpack"), (empty, "no store.json"),
            ] {
                let refused = try restore(file)
                #expect(refused.status == 1 && refused.errors.contains(error), "\(refused.errors)")
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy {
                    !$0.hasPrefix("store.") || $0 == "store.tar"
                })
            #expect(try restore("--damaged", archive).status == 0)
            #expect(
                try Program.run(Program.appBackend, ["user", "list", "--config", configuration]).output == "alice\n")
        }

        @Test func `a folder without a store is said to have none, and is left empty`() throws {
            let folder = try ScratchFolder()
            let empty = try folder.makeFolder("empty")
            for path in [empty, folder.path("nowhere")] {
                let outcome = try Program.run(Program.appBackend, ["store", "verify", "--folder", path])
                #expect(outcome.status == 1 && !outcome.errors.isEmpty)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: empty) == [])
        }

        @discardableResult private func shell(_ script: String, _ arguments: [String]) throws -> Program.Outcome {
            try Program.run("/bin/sh", ["-c", script, "sh"] + arguments)
        }
    }
}
