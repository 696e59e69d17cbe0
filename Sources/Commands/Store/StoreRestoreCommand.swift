// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server

/// `app-backend store restore`
struct StoreRestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Make the store from an archive of `store backup`.",
        discussion: """
            For `app-backend store restore store.tar`, while the service is stopped. The folder of store.path must be empty, or \
            not be there: move an old store aside. The archive is unpacked beside it and verified first; where a line is lost, \
            nothing is restored unless --damaged is given.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Leave out what waits to be delivered: it was delivered since.") var withoutQueue = false
    @Flag(help: "Leave out log-ins by cookie and app tokens: some were ended since.") var withoutLogIns = false
    @Flag(help: "Restore also a store with lines that are lost.") var damaged = false
    @Argument(help: "The archive; - or none for standard input.") var file = "-"

    /// Links are followed, also one that systemd has left to a folder that was moved away. An empty folder that is there has
    /// the right owner; a new one is the caller's, and systemd gives it to the service.
    private static let script = """
        set -eu
        umask 077
        program=$1 archive=$3 damaged=$4
        folder=$(readlink -m -- "$2")
        new=$folder.restoring
        shift 4
        fail() { printf 'Error: %s\\n' "$1" >&2; exit 1; }
        if [ -d "$folder" ] && [ -n "$(ls -A -- "$folder")" ]; then
            fail "$folder is not empty: stop the service and move the folder aside."
        fi
        [ ! -e "$new" ] || fail "$new is there, of a restoration that did not end: remove it."
        mkdir -- "$new"
        trap 'rm -rf -- "$new"' EXIT
        trap 'exit 130' INT TERM HUP
        tar --extract --file="$archive" --directory="$new" --no-same-owner || fail "tar cannot unpack the archive."
        [ -f "$new/store.json" ] || fail "This is no archive of a store: it has no store.json."
        for part; do rm -rf -- "${new:?}/$part"; done
        "$program" store verify --folder "$new" || [ "$damaged" = yes ] || fail "Nothing is restored."
        if [ -d "$folder" ]; then
            chmod --reference="$folder" -- "$new"
            [ "$(id -u)" -ne 0 ] || chown -R --reference="$folder" -- "$new"
            rmdir -- "$folder"
        fi
        sync -f "$new"
        mv -T -- "$new" "$folder"
        sync -f "$folder"
        trap - EXIT
        printf 'Restored %s. Start the service.\\n' "$folder"
        """

    func run() throws {
        let left =
            (withoutQueue ? ["hub/queue.jsonl", "hub/due", "scheduled.jsonl"] : [])
            + (withoutLogIns ? ["sessions", "session-owners", "tokens", "token-owners"] : [])
        let arguments = [try StoreCommand.folder(options), file, damaged ? "yes" : "no"] + left
        throw ShellScript.become(Self.script, [ConfigurationFile.executable] + arguments)
    }
}
