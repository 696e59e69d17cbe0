// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server
import Store

/// `app-backend store edit`
struct StoreEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change the records of an owner or id in an editor.",
        discussion: """
            Opens a copy of what `store show --secrets` prints in $VISUAL, $EDITOR, editor or vi. What was changed is \
            checked line by line, and written when the editor has ended, all of it at once; the service may go on \
            meanwhile. When it has changed the same record, nothing is written, and your text is kept in a file that is \
            named. Versions, checksums and indexes follow by themselves. The old state stays on the disk until \
            `app-backend store compact`.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Argument(help: "The table.") var table: String
    @Argument(help: "The owner or id, as the table has it; of hub/queue a message's id.") var key: String

    private static let instructions = """
        # One record a line. A line that is removed removes its record; a new one adds a record.
        # Without any line, these included, nothing is changed.

        """

    func run() throws {
        let store = try StoreCommand.open(
            try StoreCommand.folder(options), forReading: false, onEvent: StoreCommand.complainOfEvent)
        let edit = try begin(store)
        let editor = try Editor(Array(Self.instructions.utf8) + edit.text, name: "records.jsonl")
        do {
            try work(editor, edit, store)
        } catch let error as Kept {
            throw Complaint("\(error.reason); nothing is changed, and your text is in \(editor.path)")
        } catch {
            editor.remove()
            throw error
        }
        editor.remove()
    }

    /// - Throws: `Complaint`, when there is nothing to edit.
    private func begin(_ store: FileStore) throws -> RecordEdit {
        let table = try store.tableOrComplain(table)
        let edit: RecordEdit?
        do throws(StoreError) {
            edit = try store.edit(table, key: key, now: Site.now())
        } catch {
            guard case .busy = error else { throw error }
            throw Complaint("The queue is being delivered; stop the service first.")
        }
        guard let edit else {
            throw Complaint("\(table.name) is an index, which follows its records: edit those.")
        }
        guard !edit.isEmpty else { throw Complaint("There is no such record in \(table.name).") }
        return edit
    }

    /// Why the text was not taken. It stays where it is.
    private struct Kept: Error {
        let reason: String
    }

    private func work(_ editor: Editor, _ edit: RecordEdit, _ store: FileStore) throws {
        while true {
            try editor.run()
            let text = try editor.text()
            guard text.contains(where: { $0 > 0x20 }) else { return print("nothing changed") }
            let (changes, faults) = edit.changes(in: text)
            guard !faults.isEmpty else { return try apply(changes, edit, store) }
            for fault in faults { Terminal.complain("line \(fault.line): \(fault.reason)") }
            guard Terminal.asksYes("Edit again?") else { throw Kept(reason: "The text has faults") }
        }
    }

    private func apply(_ changes: [RecordEdit.Change], _ edit: RecordEdit, _ store: FileStore) throws {
        guard !changes.isEmpty else { return print("nothing changed") }
        do throws(StoreError) {
            try store.apply(changes, of: edit)
        } catch {
            throw Kept(reason: "\(error)")
        }
        print("changed \(changes.count) records")
    }
}
