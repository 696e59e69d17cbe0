// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FastCGI
import Server

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Answer FastCGI requests until SIGTERM.",
        discussion: """
            Takes the listening socket that systemd, spawn-fcgi, mod_fcgid or lighttpd hand over, or makes the one \
            that the key `listen` names. SIGHUP reads the configuration again; what is wrong with it is logged, and the \
            former one stays.
            """)

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
        // Before the first thread: every thread inherits the mask, and only one waits for signals.
        Signals.block()
        let configuration = try options.loadOfProcess()
        do {
            let file = options.file
            try Service(configuration, file: file) { DoctorRun.findings(of: $0, file: file) }.run()
        } catch {
            StderrLogHandler.logger(LogThreshold(configuration.logLevel)).critical("ended: \(error)")
            throw ExitCode(1)
        }
    }
}
