// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Commands

/// What is said of a command that there is not.
struct CommandNamesTests {
    @Test(
        arguments: [
            (["usr"], "user"), (["users", "list"], "user"), (["sendd"], "send"), (["doktor"], "doctor"),
            (["chekc"], "check"),
            (["hlep"], "help"), (["user", "lst"], "user list"), (["user", "rm", "alice"], nil),
            (["user", "token", "ad", "alice"], "user token add"), (["store", "verfy", "--json"], "store verify"),
            (["apns", "chanel", "list"], "apns channel"), (["keys", "vapd"], "keys vapid"), (["user", "help"], nil),
            (["nonsense"], nil), (["x"], nil), ([""], nil), ([String(repeating: "user", count: 40_000)], nil),
        ] as [([String], String?)])
    func `an unknown command is called so, and a similar one is named`(arguments: [String], similar: String?) {
        let suggestion = similar.map { " Did you mean \($0)?" } ?? ""
        #expect(
            CommandNames.message(forUnknownIn: arguments, of: AppBackendCommand.self)
                == "There is no such command." + suggestion)
    }

    @Test(arguments: [
        [], ["serve"], ["--config", "x"], ["user"], ["user", "--help"], ["user", "list", "lst"], ["help", "usr"],
        ["send", "--to", "alice", "verfy"], ["user", "token", "add", "alice"], ["session", "end", "alice", "--all"],
        ["outcome", "usr"],
    ])
    func `what is a command, or an argument of one, is left to it`(arguments: [String]) {
        #expect(CommandNames.message(forUnknownIn: arguments, of: AppBackendCommand.self) == nil)
    }
}
