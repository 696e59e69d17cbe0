// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Logging

struct SendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send a notification to a user, as the operator.",
        discussion: "Prints what became of it as JSON. Exits 0 when at least one platform took it.")

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The user to send to.") var to: String
    @Option(help: "The platform: apns, fcm, wns or browser. Default: every configured one.") var pns: String?
    @Flag(help: "Keep the message here and send only its id.") var secure = false
    @Option(help: "Whom it comes from, as the recipient reads it.") var from = "operator"
    @Argument(help: "The text; - reads it from standard input.") var message: String

    func validate() throws {
        if secure && pns != nil {
            throw ValidationError("A secure notification goes to every platform: leave out --pns.")
        }
        if UserName(to) == nil { throw ValidationError("--to must be a user's name.") }
        if UserName(from) == nil { throw ValidationError("--from must be a user's name.") }
    }

    func run() throws {
        var configuration = try options.load()
        // Before root becomes the owner of the store, who may not open what stands in root's pipe.
        let text = message == "-" ? try readMessage() : message
        let logger = LogLines.logger(LogThreshold(configuration.logLevel))
        try StoreOwner.become(for: &configuration)
        let store = try Site.openStore(configuration) { logger.log($0) }
        let site = try Site(configuration, store: store, logger: logger, authenticator: Operator(name: from))
        defer { site.close() }
        if configuration.authenticationMethod == .users, let recipient = UserName(to),
            try store.user(recipient.description) == nil
        {
            throw Complaint("There is no user \(to).")
        }
        var json = JSONWriter()
        json.string(text)
        let platforms = secure ? [nil] : pns.map { [$0] } ?? configuration.hub.platforms.map(\.rawValue)
        var isAccepted = false
        for platform in platforms {
            let response = site.backend.respond(to: request(platform, body: json.bytes))
            print(String(decoding: response.body, as: UTF8.self))
            if response.status != .ok { Terminal.complain(Problem(response).detail) }
            isAccepted = isAccepted || response.status == .ok
        }
        if !isAccepted { throw ExitCode(1) }
    }

    /// The same request that an app would make: there is one way to send.
    private func request(_ platform: String?, body: [UInt8]) -> Request {
        var query = "to_tag=" + PercentEncoding.encode(to)
        if let platform { query += "&pns=" + PercentEncoding.encode(platform) }
        return Request(
            method: .post, path: Path.notifications, query: query,
            // Any credentials: the operator's shell is the proof.
            fields: [.authorization: "Basic eDp4", .contentType: "application/json"], body: body, id: "send")
    }

    private func readMessage() throws -> String {
        guard let bytes = ConfigurationFile.read("/dev/stdin") else {
            throw Complaint("Standard input cannot be read.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Complaint("Standard input is not UTF-8 text.")
        }
        return text
    }
}

/// Whoever may run this command may read the store; asking for a password would protect nothing.
private struct Operator: Authenticator {
    let name: String

    func authenticate(_ credentials: BasicCredentials, address: String) -> UserName? { UserName(name) }

    /// A command has no sessions.
    func basis(of user: UserName) -> String? { nil }
}
