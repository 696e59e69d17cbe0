// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import DeviceAPI
import Glibc
import HTTP
import HTTPTypes
import Logging
import NotificationHub
import Server
import Store
import Text

struct SendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send a notification to users, to tags or to everyone, as the operator.",
        discussion: """
            Without --at it waits for the outcome, and prints it for each platform. Exits 0 when a device was reached, 3 when \
            none was, 4 when that is not known in time, 1 when the hub did not take it. With the built-in hub the running \
            service delivers.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(
        help: """
            The user to send to; or tag: and a tag, for all devices that bear it; or role: and a role, for all devices of its \
            users; may be repeated. Or, alone, tags: and an expression of tags.
            """)
    var to: [String] = []
    @Option(help: "The tag to send to, as --to with tag: before it; may be repeated.") var tag: [String] = []
    @Flag(help: "Send to everyone: to all devices of all users.") var all = false
    @Option(help: "The platform: apns, fcm, wns or browser. Default: every configured one.") var pns: String?
    @Option(help: "What stands above the text. Default: From and the sender.") var title: String?
    @Flag(help: "Keep the message here and send only its id.") var secure = false
    @Option(
        help: ArgumentHelp(
            """
            Send it then, as in 2026-11-24T08:00:00Z, seven days ahead at most. The hub keeps it until then, and no inbox \
            has it. It cannot be cancelled.
            """, valueName: "time"))
    var at: String?
    @Option(help: "The sender's name, as the recipient reads it.") var from = operatorName
    @Flag(
        name: .customLong("wait"), inversion: .prefixedNo,
        help: "Wait for the outcome, or exit 0 as soon as the hub has taken it.") var isAwaited = true
    @Option(help: ArgumentHelp("How long to wait, in seconds.", valueName: "seconds")) var timeout = 30
    @Flag(help: "Print one JSON object.") var json = false
    @Argument(help: "The text; - reads it from standard input.") var message: String

    /// The sender where none is named.
    static let operatorName = "operator"

    /// Exit statuses beside those of every command.
    static let reachedNoDevice = ExitCode(3)
    static let notKnownYet = ExitCode(4)
    /// In seconds.
    private static let possibleTimeouts = 1...3_600

    func validate() throws {
        if secure && pns != nil {
            throw ValidationError("A secure notification goes to every platform: leave out --pns.")
        }
        if all != addressees.isEmpty { throw ValidationError("Name recipients by --to or --tag, or use --all.") }
        if tag.contains(where: { (try? Tag($0)) == nil }) { throw ValidationError("--tag must be a tag, as in news.") }
        if let expression {
            guard (try? TagExpression(parsing: expression)) != nil else {
                throw ValidationError("--to is no expression of tags, as in 'tags:news && !beta'.")
            }
        } else if to.contains(where: { !Self.isRecipient($0) }) {
            throw ValidationError("--to must be a user's name, or tag: and a tag, or role: and a role, as in tag:news.")
        }
        if secure && !isForUsers { throw ValidationError("A secure notification goes to users.") }
        if at != nil {
            if secure { throw ValidationError("--at cannot be combined with --secure.") }
            guard let sendAt, (0...HubNotification.maximumDelay).contains(sendAt.seconds - Site.now().seconds) else {
                throw ValidationError("--at takes a time in the next seven days, as in 2026-11-24T08:00:00Z.")
            }
        }
        if UserName(from) == nil { throw ValidationError("--from must be a user's name.") }
        if !Self.possibleTimeouts.contains(timeout) { throw ValidationError("--timeout must be 1 to 3600 seconds.") }
    }

    /// As `--to` names them.
    private var addressees: [String] { to + tag.map { TagPolicy.tagPrefix + $0 } }

    /// Nil, unless it is the one recipient.
    private var expression: String? {
        addressees.count == 1 ? addressees.first?.dropping(TagPolicy.expressionPrefix) : nil
    }

    private var sendAt: Timestamp? { at.flatMap(Timestamp.init(rfc3339:)) }

    /// Whether no tag and no role is among the recipients.
    private var isForUsers: Bool { !all && addressees.allSatisfy { UserName($0) != nil } }

    private static func isRecipient(_ text: String) -> Bool {
        let tag = text.dropping(TagPolicy.rolePrefix) ?? text.dropping(TagPolicy.tagPrefix)
        return tag.map { (try? Tag($0)) != nil } ?? (UserName(text) != nil)
    }

    private var recipients: PushMessage.Recipients {
        if all { return .everyone }
        let all = addressees
        return if let one = all.first, all.count == 1 { .one(one) } else { .several(all) }
    }

    func run() throws {
        let environment = Environment.ofCommand(file: options.file)
        var configuration = try options.load(sends: true, environment)
        // Before root becomes the owner of the store, who may not read from root's pipe.
        let text = message == "-" ? try readMessage() : message
        let logger = StderrLogHandler.logger(LogThreshold(configuration.logLevel))
        try StoreOwner.dropPrivileges(toOwnerOf: &configuration, environment)
        let store = try Site.openStore(configuration) { logger.log($0) }
        let needsUser = !configuration.isTest
        let site = try OperatorSite(configuration, store: store, logger: logger, from: from, sendAt: sendAt)
        defer { site.close() }
        for name in to where needsUser && UserName(name) != nil {
            _ = try UserCommand.existing(name, in: store, or: configuration)
        }
        let message = PushMessage(
            to: recipients, title: title, body: text, isSecure: secure, platforms: platforms(configuration))
        guard var report = site.send(message, refused: Terminal.printError) else { throw ExitCode.failure }
        if waits, let fault = site.wait(for: &report, seconds: timeout) { Terminal.printError("hub: \(fault)") }
        print(json ? report.json : report.table)
        for sentence in report.waits { Terminal.printError(sentence) }
        try judge(report, at: site.site)
    }

    private var waits: Bool { isAwaited && at == nil }

    /// To users also those that nothing is delivered to, so that the operator sees where the devices are. Devices with
    /// templates get a message to a tag only where it names no platform.
    private func platforms(_ configuration: SiteConfiguration) -> [String] {
        pns.map { [$0] } ?? (isForUsers ? configuration.hub.platforms.map(\.rawValue) : [])
    }

    private func judge(_ report: SendReport, at site: Site) throws {
        switch report.verdict {
        case .reached: return
        case .refused: throw ExitCode.failure
        case .noDevice:
            Terminal.printError(
                "No device \(audience)was reached."
                    + (report.secretNumbers.map { " The secret is kept: it waits as number \($0)." } ?? ""))
            throw Self.reachedNoDevice
        case .unknown where !waits: return
        // The reason was said.
        case .unknown where !report.waits.isEmpty: throw Self.notKnownYet
        case .unknown:
            Terminal.printError(
                site.hasBuiltInHub
                    ? "It is queued, and its outcome was not known in \(timeout) s. The service delivers it: is it running?"
                    : "The hub has it, and its outcome was not known in \(timeout) s.")
            throw Self.notKnownYet
        }
    }

    /// As a sentence names it: `with tag:news `; empty for everyone.
    private var audience: String {
        if all { return "" }
        return "\(isForUsers ? "of" : to.count == 1 ? "with" : "of or with") \(to.joined(separator: ", ")) "
    }

    private func readMessage() throws -> String {
        guard let bytes = ConfigurationFile.read("/dev/stdin") else {
            throw CommandError("Standard input cannot be read.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError("Standard input is not UTF-8 text.")
        }
        return text
    }
}
