// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Server

/// `app-backend store backup`
struct StoreBackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write the whole store to standard output, as a tar archive.",
        discussion: """
            For `app-backend store backup > store.tar`, or through ssh from another host. The service may go on writing. \
            `tar -xf store.tar -C FOLDER` unpacks it, and what its indexes lack is added when it is opened there. The \
            archive holds secrets: passwords' hashes, messages, and the key for browsers.
            """)

    @OptionGroup var options: ConfigurationOptions

    /// Runs GNU tar in the store's folder. Its status is 1 also where a file has only grown while it was read, so what it
    /// writes to standard error decides. Locks mean nothing in a copy, and `indexed.json` only beside its own `store.json`.
    private static let script = """
        exec 3>&1
        complaints=$(tar --create --file=- --directory="$1" --dereference --warning=no-file-changed \
            --owner=0 --group=0 --numeric-owner \
            --exclude='*.tmp' --exclude=./lock --exclude=./indexed.json . 2>&1 >&3)
        status=$?
        test -z "$complaints" || { printf '%s\\n' "$complaints" >&2; exit 1; }
        test $status -le 1
        """

    func run() throws {
        guard isatty(STDOUT_FILENO) == 0 else {
            throw CommandError("An archive is nothing for a terminal: app-backend store backup > store.tar")
        }
        let folder = try StoreOwner.dropPrivileges(toOwnerOfFolder: StoreCommand.folder(options))
        guard access(folder + "/store.json", R_OK) == 0 else { throw CommandError("There is no store in \(folder).") }
        throw ShellScript.become(Self.script, [folder])
    }
}
