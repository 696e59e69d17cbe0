// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTPTypes
import JSON
import Support
import Testing

extension WireTests {
    /// What an operator types, beside a server that is running.
    struct CommandStories {
        @Test func `a new password counts at once, and the old one no more`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            // Twice, so that the running server remembers the log-in.
            for _ in 1...2 { #expect(try site.call(.get, Path.register, as: alice).status == .ok) }
            let changed = WireUser(name: alice.name, password: site.secrets.make("new-"))
            let outcome = try site.run("user", "passwd", alice.name, input: changed.password + "\n")
            #expect(outcome.status == 0 && outcome.output == "changed \(alice.name)\n")
            #expect(try site.call(.get, Path.register, as: alice).status == .unauthorized)
            #expect(try site.call(.get, Path.register, as: changed).status == .ok)
        }

        @Test func `app tokens end with a password that a command changes, unless they are kept`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            var password = alice.password
            func token() throws -> HTTPFields {
                let token = try site.run("user", "token", "add", alice.name, "--scope", "register").output
                site.secrets.add(String(token.trimmingCharacters(in: .newlines).suffix(43)))
                return [.authorization: "Bearer \(token.trimmingCharacters(in: .newlines))"]
            }
            func change(_ options: String...) throws -> String {
                password = site.secrets.make("new-")
                return try site.run(["user", "passwd", alice.name] + options, input: password + "\n").output
            }
            func isGood(_ token: HTTPFields) throws -> Bool {
                try site.call(.get, Path.register, fields: token).status == .ok
            }
            let (one, two) = (try token(), try token())
            #expect(try change("--keep-tokens") == "changed \(alice.name): 2 app tokens go on\n")
            #expect(try isGood(one) && isGood(two))
            #expect(try change() == "changed \(alice.name): 2 app tokens have ended\n")
            #expect(try !isGood(one) && !isGood(two))
            let three = try token()
            #expect(try isGood(three))
            // The same hash once more is no change.
            func replace(_ hash: String, _ options: String...) throws -> String {
                try site.run(["user", "import-htpasswd", "--replace", "-"] + options, input: "\(alice.name):\(hash)\n")
                    .output
            }
            let hashes = ["a", "b"].map { "$6$salt$" + String(repeating: $0, count: 86) }
            #expect(
                try replace(hashes[0], "--keep-tokens") == "imported \(alice.name): 1 app token goes on\n")
            #expect(try replace(hashes[0]) == "imported \(alice.name)\n" && isGood(three))
            #expect(try replace(hashes[1]) == "imported \(alice.name): 1 app token has ended\n" && !isGood(three))
            #expect(try replace(hashes[0]) == "imported \(alice.name)\n")
        }

        @Test func `what a user may claim and send to is changed at once, and only what was named`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            func sends() throws -> Int {
                let text = site.secrets.make("to bob ")
                let query = "to_tag=\(bob.name)"
                return try site.call(.post, Path.notifications, query: query, as: alice, body: "\"\(text)\"").status
                    .code
            }
            #expect(try sends() == 200)
            #expect(
                try site.run("user", "change", alice.name, "--send-to", "nosuch").output == "changed \(alice.name)\n")
            #expect(try sends() == 403)
            #expect(try site.run("user", "change", alice.name, "--tag", "news:*").status == 0)
            #expect(try sends() == 403)
            #expect(try site.run("user", "change", alice.name, "--default-send-to").status == 0)
            #expect(try sends() == 200)
            for wrong in [
                [alice.name], [alice.name, "--tag", "a", "--default-tags"], ["nosuch-user", "--tag", "a"],
                [alice.name, "--tag", "news/*"], [alice.name, "--send-to", "tag:a b"],
            ] {
                let refused = try site.run(["user", "change"] + wrong, input: "")
                #expect(refused.status != 0 && !refused.errors.isEmpty)
            }
        }

        @Test func `an app token is made, listed, used and revoked beside the running service`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            let made = try site.run(
                "user", "token", "add", alice.name, "--scope", "send,read", "--to", bob.name, "--expires", "90d",
                "--label", "build server")
            let token = made.output.trimmingCharacters(in: .newlines)
            #expect(made.status == 0 && token.wholeMatch(of: /abt_[0-9a-f]{16}_[A-Za-z0-9_-]{43}/) != nil)
            let id = String(token.dropFirst(4).prefix(16))
            #expect(made.errors.contains(id) && !made.errors.contains(token))
            site.secrets.add(String(token.suffix(43)))
            let bearer: HTTPFields = [.authorization: "Bearer \(token)"]
            #expect(try site.call(.get, Path.notifications, fields: bearer).status == .ok)
            #expect(try site.call(.get, Path.register, fields: bearer).status == .forbidden)
            let list = try site.run("user", "token", "list", alice.name).output
            #expect(list.contains("\(id)  send,read  to \(bob.name)  until ") && list.contains("used "))
            #expect(list.contains("build server") && !list.contains(token))
            let json = try JSONValue(
                parsing: Array(site.run("user", "token", "list", alice.name, "--json").output.utf8))
            #expect(json.array?.map { $0["Id"]?.string } == [id])
            #expect(try site.run("user", "token", "revoke", bob.name, id).status == 1)
            #expect(try site.run("user", "token", "revoke", alice.name, id).output == "revoked \(id)\n")
            #expect(try site.call(.get, Path.notifications, fields: bearer).status == .unauthorized)
            for wrong in [
                ["--scope", "admin"], ["--scope", "read", "--to", bob.name], ["--scope", "read", "--expires", "soon"],
                ["--scope", "read", "--expires", "0d"],
            ] {
                let refused = try site.run(["user", "token", "add", alice.name] + wrong, input: "")
                #expect(refused.status != 0 && !refused.errors.isEmpty && refused.output.isEmpty, "\(wrong)")
            }
        }

        @Test func `a user who is disabled, or whose time is over, is unknown until enabled again`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            func status() throws -> Int { try site.call(.get, Path.register, as: alice).status.code }
            #expect(try status() == 200)
            let token = try site.run("user", "token", "add", alice.name, "--scope", "read").output
            site.secrets.add(String(token.trimmingCharacters(in: .newlines).suffix(43)))
            #expect(try site.run("user", "disable", alice.name).output == "disabled \(alice.name)\n")
            #expect(try status() == 401)
            #expect(try site.run("user", "show", alice.name).output.contains("disabled: "))
            #expect(try site.run("user", "token", "list", alice.name).output.isEmpty)
            #expect(try site.run("user", "enable", alice.name).output == "enabled \(alice.name)\n")
            #expect(try status() == 200)
            #expect(try site.run("user", "change", alice.name, "--expires", "2020-02-29").status == 0)
            #expect(try status() == 401)
            #expect(try site.run("user", "show", alice.name).output.contains("may log in until: 2020-03-01T00:00:00Z"))
            #expect(try site.run("user", "change", alice.name, "--expires", "never").status == 0)
            #expect(try status() == 200)
            #expect(try site.run("user", "change", alice.name, "--expires", "2020-02-30").status == 64)
        }

        @Test func `what ended with a user's time does not come back when they are enabled`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let token = try site.run("user", "token", "add", alice.name, "--scope", "read").output
                .trimmingCharacters(in: .newlines)
            site.secrets.add(String(token.suffix(43)))
            func status() throws -> Int {
                try site.call(.get, Path.notifications, fields: [.authorization: "Bearer \(token)"]).status.code
            }
            #expect(try status() == 200)
            #expect(try site.run("user", "change", alice.name, "--expires", "2020-02-29").status == 0)
            #expect(try status() == 401)
            #expect(try site.run("user", "enable", alice.name).status == 0)
            #expect(try status() == 401)
            #expect(try site.call(.get, Path.register, as: alice).status == .ok)
        }

        @Test func `what is sent to a user who is secure-only is kept, by whomever and however it is sent`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            #expect(try site.run("user", "change", alice.name, "--secure-only").status == 0)
            let texts = [site.secrets.make("from bob "), site.secrets.make("from the operator ")]
            let query = "pns=apns&to_tag=\(alice.name)"
            let sent = try site.call(.post, Path.notifications, query: query, as: bob, body: "\"\(texts[0])\"")
            #expect(try SendOutcome(sent).id != nil)
            // She has no device, and the command says so.
            #expect(try site.run("send", "--to", alice.name, texts[1]).status == 3)
            let list = try JSONValue(parsing: site.call(.get, Path.notifications, as: alice).body).array ?? []
            let kept = try list.compactMap { $0["Id"]?.integer }.map { id in
                try SecureMessage(site.call(.get, "\(Path.notifications)/\(id)", as: alice)).payload
            }
            #expect(Set(kept) == Set(texts) && kept.count == 2)
            #expect(try site.run("user", "change", alice.name, "--no-secure-only").status == 0)
            let plain = try site.call(.post, Path.notifications, query: query, as: bob, body: "\"\(texts[0])\"")
            #expect(try SendOutcome(plain).id == nil)
        }

        @Test func `a short password is taken by a command with a warning`() throws {
            let site = try sharedSite()
            let name = site.secrets.make("short-")
            let short = try site.run(["user", "add", name], input: "seven77\n")
            let long = try site.run(["user", "passwd", name], input: "eight888\n")
            #expect(short.status == 0 && short.complaints.map { $0.contains("fewer than 8 characters") } == [true])
            #expect(long.status == 0 && long.complaints.isEmpty)
            #expect(try site.run("user", "remove", name).status == 0)
        }

        @Test func `the list of users is one of names, a table on a terminal, and JSON where that is asked for`() throws
        {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            #expect(try site.run("user", "list").output.split(separator: "\n").contains(Substring(alice.name)))
            let json = try JSONValue(parsing: Array(site.run("user", "list", "--json").output.utf8)).array ?? []
            let own = try #require(json.first { $0["name"]?.string == alice.name })
            #expect(own["devices"]?.integer == 0 && own["roles"]?.array?.isEmpty == true)
            let terminal = try PseudoTerminal()
            let process = try ChildProcess(
                Program.appBackend, ["user", "list", "--config", site.backend.configuration], input: .terminal(terminal)
            )
            defer { process.stop(seconds: 0) }
            #expect(terminal.shows("last seen", seconds: 60) && terminal.shows(alice.name, seconds: 60))
        }

        @Test func `a user who is removed is out at once`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            #expect(try site.call(.get, Path.register, as: alice).status == .ok)
            #expect(try site.run("user", "list").output.split(separator: "\n").contains(Substring(alice.name)))
            #expect(try site.run("user", "remove", alice.name).output == "removed \(alice.name)\n")
            #expect(try site.call(.get, Path.register, as: alice).status == .unauthorized)
            #expect(!(try site.run("user", "list").output.split(separator: "\n").contains(Substring(alice.name))))
        }

        @Test(arguments: [
            ["user", "remove", "nosuch"], ["user", "passwd", "nosuch"], ["user", "add", "a name with blanks"],
            ["user", "add", "with:colon"], ["user", "add"], ["user", "add", ".."], ["user", "add", "--", "-x"],
            ["init", "--user", "..", "--no-administer"],
        ])
        func `what cannot be done about users is said, and the status is not 0`(arguments: [String]) throws {
            let site = try sharedSite()
            let outcome = try Program.run(
                Program.appBackend, arguments + ["--config", site.backend.configuration], input: .text("password\n"))
            #expect(outcome.status != 0 && outcome.output.isEmpty && !outcome.errors.isEmpty)
            #expect(!outcome.errors.contains("password\n"))
        }

        @Test func `a user is added once, and only with a password`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let again = try site.run("user", "add", alice.name, input: site.secrets.make("other-") + "\n")
            #expect(again.status != 0 && again.errors.contains(alice.name))
            #expect(try site.call(.get, Path.register, as: alice).status == .ok)
            #expect(try site.run("user", "add", "empty-\(UInt32.random(in: 0...99_999))", input: "\n").status != 0)
        }

        @Test func `the operator sends, in the clear and securely`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            _ = try site.register(alice, handle: site.makeHandle())
            let plain = try site.run("send", "--to", alice.name, "--pns", "apns", "--json", site.secrets.make("plain "))
            // The hub records it, and delivers to browsers alone.
            #expect(plain.status == 3)
            #expect(try outcome(plain)["Outcomes"]?.array?.first?["State"]?.string == "Abandoned")

            let text = site.secrets.make("secure ")
            let secure = try site.run("send", "--to", alice.name, "--secure", "--json", "-", input: text)
            #expect(secure.status == 3)
            let id = try #require(try outcome(secure)["Id"]?.integer.flatMap { Int32(exactly: $0) })
            #expect(try site.readSecure(id, as: alice) == text)

            #expect(try site.run("send", "--to", "nosuch", "x").status != 0)
            #expect(try site.run("send", "--to", alice.name, "--secure", "--pns", "apns", "x").status != 0)
        }

        @Test func `the configuration in force is shown, with where each value is from and without secrets`() throws {
            let site = try sharedSite()
            let arguments = ["config", "show", "--config", site.backend.configuration]
            let shown = try Program.run(
                Program.appBackend, arguments, environment: ["APP_BACKEND_AUTH_REALM=Of the operator"])
            #expect(shown.status == 0 && shown.errors.isEmpty, "\(shown.errors)")
            let lines = shown.output.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 2) }
            func value(_ key: String, _ source: String) -> String? {
                lines.first { $0.first == Substring(key) && $0.dropFirst().first == Substring(source) }?.last
                    .map { $0.trimmingCharacters(in: .whitespaces) }
            }
            #expect(shown.output.hasPrefix("file: \(site.backend.configuration)\n"))
            #expect(value("hub.connectionString", "file") == "***")
            #expect(value("hub.name", "file") == WireSite.hubName)
            #expect(value("auth.realm", "environment") == "Of the operator")
            #expect(value("session.hours", "default") == "168")
            #expect(value("auth.methods", "default") == "[password, token, session]")
            #expect(value("hub.proxy", "default") == "-")
            let json = try JSONValue(parsing: Array(site.run("config", "show", "--json").output.utf8))
            let settings = json["settings"]?.array ?? []
            #expect(json["file"]?.string == site.backend.configuration && settings.count > 40)
            let secret = settings.first { $0["key"]?.string == "hub.connectionString" }
            #expect(secret?["value"]?.string == "***" && secret?["source"]?.string == "file")
        }

        @Test(arguments: [("users", "user"), ("usr", "user"), ("sendd", "send"), ("nonsense", "")])
        func `an unknown command is called so, and a similar one is named`(word: String, similar: String) throws {
            let outcome = try Program.run(Program.appBackend, [word, "list"])
            #expect(outcome.status == 64 && outcome.output.isEmpty)
            let suggestion = similar.isEmpty ? "" : " Did you mean \(similar)?"
            #expect(outcome.errors == "There is no such command.\(suggestion)\n")
        }

        @Test func `a second server does not take the socket of the first`() throws {
            let site = try sharedSite()
            let second = try site.run("serve")
            #expect(second.status == 1 && second.errors.contains("another process answers"))
            #expect(try site.call(.get, Path.health).status == .ok)
        }

        private func outcome(_ outcome: Program.Outcome) throws -> JSONValue {
            try JSONValue(parsing: Array(outcome.output.utf8.dropLast()))
        }
    }
}
