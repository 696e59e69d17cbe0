// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import JSON
import Support
import Testing

extension WireTests {
    /// `import`, beside a server that is running.
    struct ImportStories {
        @Test func `users and devices of a list are there at once, and messages reach them`() throws {
            let site = try sharedSite()
            let (alice, new) = (try site.addUser("alice"), site.secrets.make("new-"))
            let handles = [site.makeHandle(), site.makeHandle()]
            let list = "user,platform,token,tags\n\(alice.name),ios,\(handles[0]),news\n\(new),ios,\(handles[1]),\n"
            let added = try site.run("import", "--from", "-", input: list)
            #expect(added.status == 0 && added.errors.isEmpty)
            #expect(added.output == "added 1 user, 1 was there already; registered 2 devices, 0 were there already\n")
            let devices = try JSONValue(parsing: site.call(.get, Path.register, as: alice).body).array ?? []
            #expect(
                devices.map { $0["Platform"]?.string } == ["apns"] && devices.map { $0["Tags"]?.array?.count } == [1])
            // The new user has no password yet.
            #expect(
                try site.run("send", "--to", new, "--pns", "apns", "--no-wait", site.secrets.make("text ")).status == 0)
            #expect(try site.call(.get, Path.register, as: WireUser(name: new, password: "")).status == .unauthorized)
            let again = try site.run("import", "--from", "-", input: list)
            #expect(again.output == "added 0 users, 2 were there already; registered 0 devices, 2 were there already\n")
            // A phone that has changed hands since is not given back.
            let bob = try site.addUser("bob")
            _ = try site.register(bob, handle: handles[0])
            let third = try site.run("import", "--from", "-", input: list)
            #expect(third.status == 0 && third.errors.contains("another user has registered the device here"))
            #expect(try site.call(.get, Path.register, as: alice).body == Array("[]".utf8))
        }

        @Test func `an import that the hub leaves alone says so, and is finished by the next one`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                let list = "user,platform,token\n\(alice.name),ios,\(site.makeHandle())\n"
                site.hub.signal(SIGSTOP)
                defer { site.hub.signal(SIGCONT) }
                let stopped = try Program.run(
                    Program.appBackend, ["import", "--from", "-", "--config", site.configurationOfLittlePatience()],
                    input: .text(list))
                #expect(stopped.status == 4 && stopped.errors.contains("-:2: hub: "))
                #expect(stopped.errors.contains("Not all lines are imported: run the command again."))
                site.hub.signal(SIGCONT)
                let finished = try site.run("import", "--from", "-", input: list)
                #expect(finished.status == 0)
                #expect(try site.list("device", "list", alice.name).count == 1)
            }
        }
    }
}

/// `import` on both stores; no server of ours needed.
struct ImportStoreStories {
    enum Kind: String, CaseIterable, Sendable { case files, database }

    /// A store, and its configuration.
    private struct Site {
        let scratch: ScratchFolder
        let configuration: String

        init(_ kind: Kind, more: String = "") throws {
            scratch = try ScratchFolder()
            switch kind {
            case .files:
                let folder = scratch.path("store")
                configuration = try scratch.write(#"{"store":{"path":"\#(folder)"}\#(more)}"#, to: "c.json")
            case .database:
                let url = try PostgresServer.shared.get().makeDatabase()
                configuration = try scratch.write(#"{"store":{"url":"\#(url)"}\#(more)}"#, to: "c.json")
                #expect(try run("store", "migrate").status == 0)
            }
        }

        func run(_ arguments: String..., input: String = "") throws -> Program.Outcome {
            try Program.run(
                Program.appBackend, arguments + ["--config", configuration], input: .text(input), seconds: 300)
        }

        /// Imports a list.
        func load(_ text: String, _ options: String...) throws -> (outcome: Program.Outcome, path: String) {
            let path = try scratch.write(text, to: "list")
            let arguments = ["import", "--from", path, "--config", configuration] + options
            return (try Program.run(Program.appBackend, arguments, seconds: 300), path)
        }

        func users() throws -> Int { try run("user", "list").output.split(separator: "\n").count }
    }

    private static func token(_ number: Int) -> String { String(format: "%064x", number) }

    private static let none = "added 0 users, 2 were there already; registered 0 devices, 3 were there already\n"

    @Test(arguments: Kind.allCases)
    func `a list is checked, imported, and imported once more without a change`(kind: Kind) throws {
        let site = try Site(kind)
        // A byte order mark, line ends of Windows, a blank line, a quoted field with a line end in it.
        let list =
            "\u{FEFF}user,platform,token,note\r\nalice,ios,\(Self.token(1)),\"two\r\nlines\"\r\n\r\n"
            + "Bob,android,fcm-1,\r\nALICE,apns,\(Self.token(2)),\r\n"
        let tried = try site.load(list, "--dry-run").outcome
        #expect(tried.status == 0)
        #expect(
            tried.output == "would add 2 users, 0 are there already; would register 3 devices, 0 are there already\n")
        #expect(try site.users() == 0)
        #expect(
            try site.load(list).outcome.output.hasPrefix("added 2 users, 0 were there already; registered 3 devices"))
        let export = try site.run("store", "export").output.split(separator: "\n").dropFirst()
        #expect(try site.load(list).outcome.output == Self.none)
        #expect(try Set(site.run("store", "export").output.split(separator: "\n").dropFirst()) == Set(export))
        let json = try site.load(list, "--json").outcome.output
        #expect(
            json == #"{"dryRun":false,"records":3,"usersAdded":0,"usersExisting":2,"devicesRegistered":0,"#
                + #""devicesExisting":3,"skipped":0,"refused":0,"withoutPassword":0}"# + "\n")
        #expect(try site.run("device", "list", "alice").output.split(separator: "\n").count == 2)
    }

    @Test func `a list with a wrong line leaves a store of an older format as it is, and a right one migrates it`()
        throws
    {
        let site = try Site(.files)
        #expect(try site.load("user\nalice\n").outcome.status == 0)
        let settings = URL(filePath: site.scratch.path("store/store.json"))
        func format(_ number: Int) throws -> Bool {
            try String(contentsOf: settings, encoding: .utf8).contains("\"format\":\(number)")
        }
        let text = try String(contentsOf: settings, encoding: .utf8)
        let older = text.replacing("\"format\":3", with: "\"format\":2")
        try older.write(to: settings, atomically: true, encoding: .utf8)
        #expect(try site.load("user\na b\n").outcome.status == 1 && format(2))
        #expect(try site.load("user\nbob\n", "--dry-run").outcome.status == 0 && format(2))
        #expect(try site.load("user\nbob\n").outcome.status == 0 && format(3) && site.users() == 2)
    }

    @Test(arguments: Kind.allCases)
    func `each wrong line is named, and nothing is imported until that is asked for`(kind: Kind) throws {
        let site = try Site(kind, more: #","policy":{"tags":["news"]}"#)
        let wrong = [
            "alice,ios,secret-token,", "alice,nokia,secret-token,", "a b,fcm,secret-token,", "alice,fcm,secret token,",
            "alice,fcm,secret-token", "alice,fcm,sec\"ret,", "alice,fcm,secret-token,sport", "alice,fcm,sec\0ret,",
            "alice,fcm,\(String(repeating: "x", count: 5_000)),", "alice,,secret-token,", "eve,fcm,fcm-1,",
        ]
        let list = (["user,platform,token,tags", "bob,fcm,fcm-1,news"] + wrong + [",fcm,fcm-2,", "bob,fcm,fcm-1,"])
            .joined(separator: "\n")
        for options in [[], ["--dry-run"]] {
            let (outcome, path) = options.isEmpty ? try site.load(list) : try site.load(list, "--dry-run")
            #expect(outcome.status == 1 && outcome.output.isEmpty)
            let complaints = outcome.complaints.filter { $0.hasPrefix(path) }
            #expect(complaints.map { $0.dropFirst(path.count + 1).prefix { $0 != ":" } } == (3...13).map { "\($0)" })
            #expect(outcome.errors.contains("11 lines are wrong; nothing is imported"))
            #expect(!outcome.errors.contains("secret"))
        }
        #expect(try site.users() == 0)
        let rest = try site.load(list, "--skip-wrong").outcome
        #expect(rest.status == 1 && rest.errors.contains("1 line skipped, the first is 14: no user"))
        #expect(rest.output == "added 1 user, 0 were there already; registered 1 device, 1 was there already\n")
        #expect(try site.run("user", "list").output == "bob\n")
    }

    @Test(arguments: Kind.allCases)
    func `an import that was killed is finished by the next one, with each device once`(kind: Kind) throws {
        let site = try Site(kind)
        let count = 1_500
        let rows = (1...count).map { "user\($0 % 300),ios,\(Self.token($0))" }
        let list = "user,platform,token\n" + rows.joined(separator: "\n")
        let path = try site.scratch.write(list, to: "long")
        let process = try ChildProcess(
            Program.appBackend, ["import", "--from", path, "--config", site.configuration])
        #expect(try Deadline.poll(seconds: 120) { try site.users() > 50 || process.exitStatus != nil })
        process.signal(SIGKILL)
        #expect(process.wait(seconds: 120) != nil)
        let finished = try site.load(list).outcome
        #expect(finished.status == 0 && finished.errors.isEmpty)
        let third = try site.load(list).outcome.output
        #expect(third == "added 0 users, 300 were there already; registered 0 devices, \(count) were there already\n")
        let export = try site.run("store", "export").output.split(separator: "\n")
        // One id may have been handed out when the process was killed, for each of its threads.
        let devices = export.filter { $0.contains(#""table":"devices""#) && $0.contains(#""platform":"apns""#) }
        let registrations = export.filter { $0.contains(#""table":"hub/registrations""#) }
        #expect(devices.count == count && registrations.count == count)
    }

    @Test func `a long list needs little memory`() throws {
        let site = try Site(.files)
        let rows = (1...100_000).map { "user\($0 / 2),ios,\(Self.token($0))" }
        let path = try site.scratch.write("user,platform,token\n" + rows.joined(separator: "\n") + "\n", to: "long")
        let outcome = try Program.run(
            "/usr/bin/prlimit",
            [
                "--data=\(64 << 20)", Program.appBackend, "import", "--from", path, "--dry-run", "--config",
                site.configuration,
            ],
            seconds: 300)
        #expect(outcome.status == 0 && outcome.output.contains("would register 100000 devices"), "\(outcome.errors)")
    }

    @Test func `more devices than one user may have are refused by their lines, and none makes room`() throws {
        let site = try Site(.files)
        let rows = (1...102).map { "alice,ios,\(Self.token($0))" }
        let list = "user,platform,token\n" + rows.joined(separator: "\n")
        let (refused, path) = try site.load(list)
        #expect(refused.status == 1)
        #expect(
            refused.complaints.prefix(2)
                == [102, 103].map { "\(path):\($0): the user has 100 devices, as many as one user may have" }[...])
        let rest = try site.load(list, "--skip-wrong").outcome
        #expect(rest.status == 1 && rest.output.contains("registered 100 devices"))
        #expect(try site.load(list, "--skip-wrong").outcome.output.contains("registered 0 devices, 100 were there"))
    }

    @Test func `passwords come along where their hashes can be checked, and a disabled user may not log in`() throws {
        let site = try Site(.files)
        let hash = "$2b$10$" + String(repeating: "a", count: 53)
        let list = """
            {"results":[{"username":"alice","_hashed_password":"\(hash)"},
             {"username":"bob","passwordHash":"Zm9v","salt":"YmFy"},
             {"username":"carol","disabled":true,"platform":"fcm","token":"x"}]}
            """
        let added = try site.load(list).outcome
        #expect(added.status == 0 && added.output.hasPrefix("added 3 users"))
        #expect(added.errors.contains("1 user has no password: the hash is not of an accepted kind"))
        #expect(added.errors.contains("1 line skipped, the first is 3: device of a disabled user"))
        #expect(!added.errors.contains(hash) && !added.errors.contains("Zm9v"))
        let export = try site.run("store", "export").output
        #expect(export.contains(hash) && !export.contains("Zm9v"))
        #expect(try site.run("user", "show", "carol").output.contains("disabled: "))
        // A user who was removed here does not come back by a list.
        #expect(try site.run("user", "remove", "alice").status == 0)
        let again = try site.load(list).outcome
        #expect(again.status == 0 && again.errors.contains("user was removed here"))
        #expect(try site.run("user", "list").output == "bob\ncarol\n")
    }

    @Test func `users of an identity provider are named as its tokens name them, and are not added`() throws {
        let issuer =
            #"{"issuer":"https://id.example.com","prefix":"fb","audience":["app"],"jwksUrl":"https://127.0.0.1:9/k"}"#
        let site = try Site(.files, more: #","auth":{"issuers":[\#(issuer)]}"#)
        let list = "uid,platform,token\naB3,fcm,x\n"
        let added = try site.load(list, "--issuer", "fb").outcome
        #expect(added.status == 0, "\(added.errors)")
        #expect(added.output == "added 0 users, 1 was there already; registered 1 device, 0 were there already\n")
        #expect(try site.run("device", "list", "fb.a#423").output.contains("fcm"))
        #expect(try site.users() == 0)
        #expect(try site.load(list, "--issuer", "other").outcome.status == 1)
        let unknown = try site.load(list, "--no-add-users")
        #expect(
            unknown.outcome.status == 1 && unknown.outcome.errors.hasPrefix("\(unknown.path):2: There is no user aB3."))
    }
}
