// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FastCGI
import Glibc
import Server
import System

/// `app-backend reload`
struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Make the running service read its configuration again, and say whether it did.",
        discussion: """
            What systemd calls for `systemctl reload app-backend` (ExecReload=). It sends SIGHUP, and asks the service until that \
            has taken the configuration or refused it: the service alone sees its credentials and its files as it does. Exits 0 \
            when the configuration is in force, 1 when the former one stays.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: ArgumentHelp("The process that serves.", valueName: "number")) var process: Int32
    @Option(
        help: ArgumentHelp(
            "The service's socket.",
            discussion: """
                Default: the one that is standard input, as under systemd, else `listen` of the configuration, else \
                \(SocketFindings.shippedPath).
                """, valueName: "path"))
    var socket: String?

    /// For how long the service is asked, in seconds; systemd gives a reload 90.
    private static let patience = 60
    /// That one question may take.
    private static let questionSeconds: UInt16 = 20
    /// Between two questions.
    static let backoff = Backoff(doubling: .milliseconds(10), to: .milliseconds(500))

    func validate() throws {
        if process <= 1 { throw ValidationError("--process must be the number of a process.") }
    }

    func run() throws {
        let probe = try probe()
        let before = try reloads(probe)
        guard kill(process, SIGHUP) == 0 else { throw failure("the process \(process) cannot be told") }
        let end = ContinuousClock.now + .seconds(Self.patience)
        var questions = 0
        while ContinuousClock.now < end {
            Semaphore.sleep(Self.backoff.pause(after: questions))
            questions += 1
            guard kill(process, 0) == 0 else { throw failure("the service has ended") }
            guard let service = try? RunningService(ask: probe.get), service.reloads != before else { continue }
            guard let refusal = service.reloadRefusal else { return }
            throw failure("the former configuration stays: \(refusal)")
        }
        throw failure("the service has not said in \(Self.patience) s whether it took the configuration")
    }

    private func reloads(_ probe: FastCGIProbe) throws -> Int {
        do throws(FastCGIProbe.Failure) {
            if let count = try RunningService(ask: probe.get).reloads { return count }
        } catch {
            throw failure("the service does not answer (\(error))")
        }
        throw failure("the service that runs is of an older version, which needs a restart")
    }

    private func probe() throws -> FastCGIProbe {
        if socket == nil, let probe = FastCGIProbe(listeningOn: STDIN_FILENO, timeoutSeconds: Self.questionSeconds) {
            return probe
        }
        let listen = SiteConfiguration.load(file: options.file).0?.listen
        let address = try ListenAddress(socket ?? listen ?? SocketFindings.shippedPath, allowNonLoopback: true)
        guard let probe = FastCGIProbe(address, timeoutSeconds: Self.questionSeconds) else {
            throw failure("the socket has no address")
        }
        return probe
    }

    private func failure(_ reason: String) -> ExitCode {
        Terminal.printError("reload: \(reason)")
        return ExitCode(1)
    }
}
