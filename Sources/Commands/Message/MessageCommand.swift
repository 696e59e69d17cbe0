// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import DeviceAPI
import JSON
import NotificationHub
import Server
import Store
import Text

/// `app-backend message`
struct MessageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message", abstract: "See which messages were sent, and what became of them.",
        discussion: """
            Message objects of the last seven days, by their MessageId: who sent them, to whom and when, never their \
            text. Sends of strings are not among them.
            """,
        subcommands: [List.self, Show.self, MessageCancelCommand.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the messages that were sent last, newest first, one a line.",
            discussion: """
                The id, the time, the sender, the recipient, how many have opened it, and what became of it on each platform, \
                for which the hub is asked; `show` has more. With --waiting, the messages that users have put off with \
                `SendAt`: the id, the time, the sender, the recipient, and when a process has tried to send it first.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print one JSON array.") var json = false
        @Flag(help: "List the messages that wait for their time instead, the soonest first.") var waiting = false
        @Option(
            name: .customLong("user"), help: "Only messages of this sender: a user, or the name that `send` sent as.")
        var name: String?
        @Option(
            name: .customLong("with"),
            help: ArgumentHelp(
                "Only messages that this user has sent, or that name them as a recipient.", valueName: "user"))
        var party: String?
        @Option(
            help: ArgumentHelp(
                "Only messages that were sent, or are to be sent, before, as in 2026-11-23T00:14:10Z.",
                valueName: "time"))
        var before: String?
        @Option(help: "How many at most.") var limit = 50

        func validate() throws {
            if let before, Timestamp(rfc3339: before) == nil {
                throw ValidationError("--before takes a time, as in 2026-11-23T00:14:10Z.")
            }
            if limit < 1 { throw ValidationError("--limit takes a number of 1 or more.") }
        }

        func run() throws {
            let (configuration, site, store) = try UserCommand.site(options)
            defer { site.close() }
            let user = name.map { name in
                Result { try UserCommand.existing(name, in: store, or: configuration) }
            }
            var wish = MessageHistory.Wish(limit: limit)
            // `send` sends as an operator who is no user.
            wish.owner = user.flatMap { try? $0.get().owner } ?? name
            wish.user = party
            wish.place = before.flatMap(Timestamp.init(rfc3339:)).map { SentMessage.Place(sentAt: $0) }
            let history = MessageHistory(store: store, now: Site.now)
            if waiting {
                let messages = try history.waiting(wish)
                try show(messages, of: user, columns: \.columns) { $0.writeMembers(to: &$1) }
            } else {
                let messages = try history.list(wish) { site.details(of: $0) }
                try show(messages, of: user, columns: \.columns) { $0.writeMembers(to: &$1) }
            }
        }

        private func show<Message>(
            _ messages: [Message], of user: Result<User, any Error>?, columns: (Message) -> [String],
            members: (Message, inout JSONWriter) -> Void
        ) throws {
            if messages.isEmpty { _ = try user?.get() }
            guard !json else { return print(JSONWriter.array(messages, members).text) }
            TextTable.lines(messages.map(columns), textColumns: Set(0...6)).forEach { print($0) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what became of a message.",
            discussion: """
                As its sender sees it; the hub is asked for all platforms. Of the built-in hub's own, also what each device got, where they \
                are at most 32 of a platform.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print one JSON object, as the HTTP API answers administrators.") var json = false
        @Argument(help: "The message's id, as `list` shows it.") var id: String

        func run() throws {
            let (_, site, store) = try UserCommand.site(options)
            defer { site.close() }
            let history = MessageHistory(store: store, now: Site.now)
            guard let message = try history.message(id) else {
                throw CommandError("There is no message of that id.")
            }
            let report = try history.report(message) { site.details(of: $0) }
            guard !json else { return print(report.json.text) }
            Self.lines(report).forEach { print($0) }
        }

        private static func lines(_ report: MessageHistory.Report) -> [String] {
            let timeline = report.timeline
            let reading = timeline.isRead.map { $0 ? "read" : "not read" } ?? "not known whether it was read"
            let facts = [
                ["from", report.sender], ["to", timeline.to], ["sent", timeline.sentAt],
                ["kind", timeline.isSecure ? "secure" : "plain"],
                ["kept", timeline.isKept ? "yes, \(reading)" : "no"], ["opened by", String(timeline.opened)],
            ]
            let outcomes = timeline.outcomes.map { outcome in
                let counts = outcome.counts.map { "\($0.name) \($0.devices)" }
                return [
                    outcome.platform, outcome.state, counts.joined(separator: ", "),
                    outcome.waitsForCredential ? "waits for a credential" : "",
                ]
            }
            let devices = report.devices.map { [$0.platform, $0.id, $0.user ?? "removed", $0.outcome] }
            return TextTable.lines(facts, textColumns: [0, 1])
                + [outcomes, devices].flatMap { TextTable.lines($0, textColumns: [0, 1, 2, 3]) }
        }
    }
}

extension MessageHistory.Entry {
    fileprivate var columns: [String] {
        let states = outcomes.map { "\($0.platform) \($0.state)" }
        return message.columns + ["opened \(opened)", states.joined(separator: ", ")]
    }

    fileprivate func writeMembers(to json: inout JSONWriter) {
        message.writeMembers(time: "sentAt", to: &json)
        json.member("kept", message.keptID != nil)
        json.member("opened", opened)
        json.member("outcomes", outcomes) { outcome, json in
            json.member("platform", outcome.platform)
            json.member("state", outcome.state)
            if let id = outcome.notificationID { json.member("notificationId", id) }
        }
    }
}

extension MessageHistory.Waiting {
    fileprivate var columns: [String] { message.columns + [triedAt.map { "tried \($0.text)" } ?? ""] }

    fileprivate func writeMembers(to json: inout JSONWriter) {
        message.writeMembers(time: "sendAt", to: &json)
        if let triedAt { json.member("triedAt", triedAt.text) }
    }
}

extension SentMessage {
    /// What an operator is shown of a message in a line, before what became of it.
    fileprivate var columns: [String] { [id, sentAt.text, sender, "to " + to, isSecure ? "secure" : "plain"] }

    /// What an operator is shown of a message in JSON, before what became of it.
    /// - Parameter time: the member that has its time.
    fileprivate func writeMembers(time: String, to json: inout JSONWriter) {
        json.member("id", id)
        json.member("sender", sender)
        json.member("to", to)
        json.member(time, sentAt.text)
        json.member("secure", isSecure)
    }
}
