// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store

/// Knows what a store must hold: it writes, says what it was promised, and later compares.
///
///     store-oracle write FOLDER --name NAME [OPTION...]     until it is killed; says on standard output what it does
///     store-oracle verify FOLDER LOG...                     compares the store with the outputs of such writers
///     store-oracle freeze FOLDER OWNER                      stops itself (SIGSTOP) in the middle of a line for that owner
///
/// To `write` and `verify` the FOLDER may be a database's URL.
///
/// Exit statuses: 0; 1 when something was lost or is not whole; 64 for wrong arguments; 74 when the store broke off.
@main struct StoreOracle {
    static func main() {
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            switch arguments.command {
            case "write": try WriteCommand(arguments).run()
            case "verify": try VerifyCommand(arguments).run()
            case "freeze": try FreezeCommand(arguments).run()
            default: throw WrongArguments(reason: "no such command: \(arguments.command)")
            }
        } catch let error as WrongArguments {
            complain(error.reason)
            exit(64)
        } catch {
            complain("\(error)")
            exit(74)
        }
    }

    static func complain(_ text: String) {
        let line = "store-oracle: \(text)\n"
        _ = write(STDERR_FILENO, line, line.utf8.count)
    }
}
