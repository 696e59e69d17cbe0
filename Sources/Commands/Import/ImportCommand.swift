// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import JWT
import Server
import Store

/// `app-backend import`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add users and register devices from another service's list.",
        discussion: """
            Reads CSV, JSON Lines, JSON and Azure's export of registrations, with the names that OneSignal, Firebase and \
            Parse give their columns. Every line is checked before anything is changed, and a line that is wrong is \
            named by its number. Users and devices that are here already are left as they are, so an import that was \
            interrupted is run again. The service may go on meanwhile. Exits 0 when all of the file is imported, 1 when \
            a line is wrong, 4 when the store or the hub failed on the way.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(name: .customLong("from"), help: "The file; - for standard input.") var file: String
    @Option(help: "csv, jsonl, json or azure. Default: as the file begins.") var format: ImportFormat?
    @Option(
        name: .customLong("map"),
        help: ArgumentHelp(
            """
            The column of a field; may be repeated. Fields: user, platform, token, p256dh, auth, tags, app, installation, \
            password-hash, disabled, invalid. Without a column the field is not read.
            """, valueName: "field=column"))
    var maps: [String] = []
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("The value of a field in all lines; may be repeated.", valueName: "field=value"))
    var sets: [String] = []
    @Option(
        help: ArgumentHelp(
            "The users are those of the identity provider with this prefix, by their subjects.", valueName: "prefix"))
    var issuer: String?
    @Flag(inversion: .prefixedNo, help: "Add users who are not here, or refuse their lines.") var addUsers = true
    @Flag(help: "Check the file and count; change nothing.") var dryRun = false
    @Flag(help: "Import the other lines when some are wrong. The exit status is still 1.") var skipWrong = false
    @Flag(help: "Print one JSON object.") var json = false

    /// So many wrong lines are named, unless the others are imported.
    private static let maximumFaults = 20
    private static let stopped = ExitCode(4)

    func validate() throws { _ = try ImportMapping(maps: maps, sets: sets) }

    func run() throws {
        // As the calling user: the store's owner may not read it.
        let file = try ImportFile(file, format)
        let mapping = try ImportMapping(maps: maps, sets: sets)
        // A store of an older format is migrated only if the file is right.
        let (configuration, checking, store) = try UserCommand.site(options, migrates: false)
        var run = ImportRun(
            file, mapping, work(configuration, checking, store), issuer: try prefix(configuration),
            namedFaults: skipWrong ? .max : Self.maximumFaults)
        do {
            defer { checking.close() }
            try run.check()
        }
        let wrong = run.summary.refused
        if wrong > 0, !skipWrong {
            Terminal.printError(
                UserCommand.counted(
                    wrong, "line is wrong; nothing is imported (--skip-wrong imports the others)",
                    "lines are wrong; nothing is imported (--skip-wrong imports the others)"))
            throw ExitCode(1)
        }
        do {
            if !dryRun { try apply(&run, configuration) }
            report(run.summary)
        } catch let stopped as ImportRun.Stopped {
            report(run.summary)
            Terminal.printError("\(file.path):\(stopped.place): \(stopped.reason)")
            Terminal.printError("Not all lines are imported: run the command again.")
            throw Self.stopped
        }
        if run.summary.refused > 0 { throw ExitCode(1) }
    }

    private func apply(_ run: inout ImportRun, _ configuration: SiteConfiguration) throws {
        let (site, store) = try UserCommand.site(configuration)
        defer { site.close() }
        run.work = work(configuration, site, store)
        try run.apply()
    }

    private func work(_ configuration: SiteConfiguration, _ site: Site, _ store: any SiteStore) -> ImportWork {
        ImportWork(
            administration: UserCommand.administration(configuration, store), devices: site.backend.deviceImport,
            addsUsers: addUsers)
    }

    private func prefix(_ configuration: SiteConfiguration) throws -> UserPrefix? {
        guard let issuer else { return nil }
        guard let prefix = UserPrefix(issuer), configuration.issuers.contains(where: { $0.prefix == issuer }) else {
            throw CommandError("--issuer must be the prefix of an issuer in auth.issuers.")
        }
        return prefix
    }

    private func report(_ summary: ImportSummary) {
        for remark in summary.remarks { Terminal.printError(remark) }
        print(json ? summary.json : summary.text)
    }
}
