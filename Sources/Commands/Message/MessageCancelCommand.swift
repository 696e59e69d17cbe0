// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import Server

/// `app-backend message cancel`
struct MessageCancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel a message that waits for its time.",
        discussion: "As its sender can. A message that a process has begun to send is not cancelled.")

    @OptionGroup var options: ConfigurationOptions
    @Argument(help: "The message's id, as `list --waiting` shows it.") var id: String

    func run() throws {
        let store = try options.openStore().store
        guard let waiting = try MessageHistory(store: store, now: Site.now).cancel(id) else {
            throw CommandError("No message waits for its time under that id.")
        }
        print("cancelled \(id) of \(waiting.message.sender)")
    }
}
