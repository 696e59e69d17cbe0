// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import FastCGI
import Glibc
import Server

struct DoctorCommand: ParsableCommand {
    /// Wrong usage; 1 says that something is wrong with the site.
    private static let misuse: Int32 = 2
    /// What --socket says where there is none, as with mod_fcgid.
    static let noSocket = "none"
    private static let timeouts: ClosedRange<UInt16> = 1...120

    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check each step of a request, and say what to change.",
        discussion: """
            nginx, socket, store, issuers of tokens, clock, TLS, key, hub and the push to devices, in that order; what still makes sense \
            after a failure is looked at anyway. It only reads, sends nothing without --send-to, and each step ends after \
            some seconds. Best run as root: it then becomes the store's owner before it looks at the store. Exits 0 when \
            nothing is wrong, 1 when something is, 2 when it is not used as written here.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: ArgumentHelp("The site's address, as apps call it; without it nginx is not asked.", valueName: "url"))
    var url: String?
    @Option(
        help: ArgumentHelp(
            "The service's socket; none: the web server starts the service itself.",
            discussion: "Default: `listen` of the configuration, else \(SocketFindings.shippedPath).", valueName: "path"
        ))
    var socket: String?
    @Option(help: ArgumentHelp("Certificates (PEM) to trust at --url, for a private authority.", valueName: "file"))
    var caFile: String?
    @Option(
        help: ArgumentHelp(
            "Send a notification to this user, and say what it came to at each device.", valueName: "user"))
    var sendTo: String?
    @Option(
        help: ArgumentHelp(
            "Seconds that one question may take; give more on a host that is very slow.", valueName: "seconds"))
    var timeout: UInt16 = 5
    @Flag(help: "Print one JSON object, for scripts.") var json = false

    func validate() throws {
        if let url, SiteAddress(url) == nil {
            throw ValidationError(
                "--url must be https://host or https://host:port, with a prefix where apps have one: https://host/push")
        }
        guard Self.timeouts.contains(timeout) else {
            throw ValidationError("--timeout must be \(Self.timeouts.lowerBound) to \(Self.timeouts.upperBound)")
        }
        _ = try socketAddress()
        if let sendTo, UserName(sendTo) == nil { throw ValidationError("--send-to must be a user's name.") }
    }

    func run() throws {
        // libcurl does not see to it without signals (CURLOPT_NOSIGNAL(3)).
        signal(SIGPIPE, SIG_IGN)
        let how = DoctorRun.Options(
            url: url, socket: socket, caFile: caFile, timeout: timeout, sendTo: sendTo, isPrinting: !json)
        var doctor = DoctorRun(how, file: options.file ?? ConfigurationFile.defaultPath())
        doctor.run()
        if json { print(doctor.report.json(version: Version.text)) }
        if doctor.report.verdict == .fail { throw ExitCode(1) }
    }

    /// What --socket names; nil when it names none.
    func socketAddress() throws -> ListenAddress? {
        guard let socket, socket != Self.noSocket else { return nil }
        do throws(ListenError) {
            return try ListenAddress(socket, allowNonLoopback: true)
        } catch {
            throw ValidationError("--socket: \(error)")
        }
    }

    /// Ends the process with 2, when the error is that `doctor` was called as it cannot be.
    static func exitIfMisused(_ error: any Error) {
        guard CommandLine.arguments.dropFirst().first == "doctor", exitCode(for: error) == .validationFailure else {
            return
        }
        Terminal.printError(fullMessage(for: error))
        Glibc.exit(misuse)
    }
}
