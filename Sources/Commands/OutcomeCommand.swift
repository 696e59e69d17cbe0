// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import DeviceAPI
import Server

/// `app-backend outcome`
struct OutcomeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outcome", abstract: "Print the outcome of a send.",
        discussion: """
            The id is the one that `send` prints, or the NotificationId of an answer of the API; the hub keeps it for \
            seven days. Exits 0 when a device was reached, 3 when none was, 4 while that is not known.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print one JSON object, as the HTTP API answers it.") var json = false
    @Argument(help: "The send.") var id: String

    func run() throws {
        guard let id = NotificationID(id) else { throw CommandError("This is not the id of a send.") }
        let environment = Environment.ofCommand(file: options.file)
        var configuration = try options.load(sends: true, environment)
        let logger = StderrLogHandler.logger(LogThreshold(configuration.logLevel))
        try StoreOwner.dropPrivileges(toOwnerOf: &configuration, environment)
        let store = try Site.openStore(configuration, migrates: false) { logger.log($0) }
        let site = try Site(configuration, store: store, logger: logger)
        defer { site.close() }
        guard let found = try site.details(of: id.description) else {
            throw CommandError("The hub knows no such send.")
        }
        let details = SendOutcomeDetails(id, found)
        let report = SendReport(details, found)
        print(json ? String(decoding: details.json, as: UTF8.self) : report.table)
        for sentence in report.waits { Terminal.printError(sentence) }
        switch report.verdict {
        case .reached: return
        case .noDevice, .refused: throw SendCommand.reachedNoDevice
        case .unknown: throw SendCommand.notKnownYet
        }
    }
}
