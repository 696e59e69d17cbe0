// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NotificationHub
import Push
import Server

struct APNsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns", abstract: "Manage what Apple keeps for an app.", subcommands: [ChannelCommand.self])
}

/// `app-backend apns channel`
struct ChannelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Manage broadcast channels, and send to them.",
        discussion: """
            A device subscribes to a channel by its id, for Live Activities (iOS 18 and later); one notification reaches \
            all devices that did.
            """, subcommands: [Create.self, List.self, Delete.self, Send.self])

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a channel, and print its id.")

        @OptionGroup var app: ChannelOptions
        @Flag(help: "Keep the newest notification for devices that are away, for up to 8 hours.") var keepNewest = false

        func run() throws {
            print(try app.ask { client throws(BroadcastClient.Failure) in try client.create(keepsNewest: keepNewest) })
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the ids of all channels of the app.")

        @OptionGroup var app: ChannelOptions

        func run() throws {
            for id in try app.ask({ client throws(BroadcastClient.Failure) in try client.list() }) { print(id) }
        }
    }

    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a channel; devices that subscribed to it get no more notifications.")

        @OptionGroup var app: ChannelOptions
        @Argument(help: "The channel's id.") var id: String

        func run() throws {
            try app.ask { client throws(BroadcastClient.Failure) in try client.delete(id) }
        }
    }

    struct Send: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a Live Activity's notification to all devices of a channel.")

        @OptionGroup var app: ChannelOptions
        @Option(help: "10, 5 or 1; Apple's default is 10.") var priority: Int?
        @Option(
            help: ArgumentHelp(
                "Until when APNs keeps it, in seconds since 1970; 0: it is tried once.", valueName: "seconds"))
        var expiration: Int?
        @Argument(help: "The channel's id.") var id: String
        @Argument(help: "A file with the payload, {\"aps\":{…}}; - reads it from standard input.") var file: String

        func run() throws {
            guard let payload = ConfigurationFile.read(file == "-" ? "/dev/stdin" : file) else {
                throw CommandError("The payload cannot be read.")
            }
            let options = [("apns-priority", priority), ("apns-expiration", expiration)]
            let headers = options.compactMap { name, value in value.map { PushHeader(name, "\($0)") } }
            try app.ask { client throws(BroadcastClient.Failure) in
                try client.send(payload, headers: headers, to: id)
            }
        }
    }
}

/// Whose channels.
struct ChannelOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The app's bundle id, where several are configured.") var topic: String?
    @Option(help: "production or sandbox, where both are configured.") var environment: String?
    @Option(
        help: ArgumentHelp(
            "Takes the place of Apple's host for channels, for relays and tests.", valueName: "https://host:port"))
    var endpoint: String?

    /// - Throws: `CommandError`, with the reason of the client's failure.
    func ask<Value>(_ body: (BroadcastClient) throws(BroadcastClient.Failure) -> Value) throws -> Value {
        let apps = try options.load(sends: true).apns.filter { app in
            topic ?? app.topic == app.topic && environment ?? app.environment.rawValue == app.environment.rawValue
        }
        guard let app = apps.first, apps.count == 1 else {
            throw CommandError(
                apps.isEmpty
                    ? "No such app is configured under apns."
                    : "Several apps are configured: give --topic or --environment.")
        }
        let management = endpoint.flatMap { ServiceURL($0) }
        guard endpoint == nil || management?.scheme == "https" else {
            throw CommandError("--endpoint must be https://, a host and perhaps a port.")
        }
        do throws(BroadcastClient.Failure) {
            let client = try BroadcastClient(app, management: management)
            defer { client.close() }
            return try body(client)
        } catch {
            throw CommandError(error.description)
        }
    }
}
