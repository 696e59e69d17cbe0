// SPDX-License-Identifier: Apache-2.0
internal import JSON

extension FileStore {
    /// Copies the records of that key, for a person to change. Nothing is locked meanwhile, but for the queue: of that
    /// the turn to deliver is held.
    /// - Parameter key: as for `forEachRecord(of:key:now:_:)`, but none that only an index knows.
    /// - Returns: nil, when the table is an index.
    /// - Throws: `busy`, when the queue is being delivered.
    package func edit(_ table: StoreTable, key: String, now: Timestamp) throws(StoreError) -> RecordEdit? {
        guard let editable = editable(table) else { return nil }
        let isQueue = table.name == QueuedLine.table
        let turn = isQueue ? try takeHubQueueTurn() : nil
        guard !isQueue || turn != nil else { throw .busy(retryAfterSeconds: 1) }
        let states = try states(table, key: key, now: now)
        return RecordEdit(
            table: editable, key: isQueue ? QueuedLine.key : key, records: states.map(\.value), turn: turn)
    }

    /// Makes the changes, all of them in one write, under the bucket's lock. Hints of changed records are durable before
    /// their lines, as always. A changed record counts as one write more, so that whoever has read it before decides anew.
    /// - Throws: `conflict`, when one of the records that are to be changed was changed meanwhile; nothing is written then.
    package func apply(_ changes: [RecordEdit.Change], of edit: RecordEdit) throws(StoreError) {
        let table = edit.table.table
        try table.write(edit.key) { (bucket) throws(StoreError) in
            let content = try bucket.content()
            var states: [[UInt8]: RecordState] = [:]
            for state in RecordStates(content, table, key: edit.key).states {
                states[RecordEdit.bytes(state.id)] = state
            }
            var lines: [UInt8] = []
            for change in changes {
                let state = states[RecordEdit.bytes(change.id)]
                guard state.map({ RecordEdit.bytes($0.value) }) == change.old.map(RecordEdit.bytes) else {
                    throw .conflict
                }
                lines += try edit.lines(change, over: state, in: content)
            }
            for change in changes { try edit.addHints(change) }
            try bucket.append(lines)
            for change in changes { try edit.takeBackHints(change, bucket) }
        }
    }
}

extension RecordEdit {
    /// The lines that make the change.
    fileprivate func lines(
        _ change: Change, over state: RecordState?, in content: BucketContent
    ) throws(StoreError) -> [UInt8] {
        guard var new = change.new else {
            return table.removal(of: change.id, key: key, version: change.old?.version)
        }
        if table.isVersioned {
            // There the key is the id.
            let version = try table.table.nextVersion(of: key, after: change.old?.version, in: content)
            new = new.setting("version", .number(String(version)))
        }
        guard let line = table.line(new) else {
            throw .unavailable(detail: "a document that could not be read back")
        }
        // What a newer version has said of the record goes on to be said of it; a reading stands in the record now.
        let ops = state?.ops.filter { $0.name != readOp } ?? []
        return line + ops.flatMap { $0.line + [0x0A] }
    }

    private func newEntries(_ change: Change) -> [IndexEntry] { change.new.map(table.entries) ?? [] }
    private func oldEntries(_ change: Change) -> [IndexEntry] { change.old.map(table.entries) ?? [] }

    fileprivate func addHints(_ change: Change) throws(StoreError) {
        guard let id = change.id.string else { return }
        let old = oldEntries(change)
        for entry in newEntries(change) where !entry.isIn(old) {
            try entry.table.write(entry.key) { (index) throws(StoreError) in try index.append(entry.line(id: id)) }
        }
    }

    fileprivate func takeBackHints(_ change: Change, _ bucket: BucketWriter) throws(StoreError) {
        guard let id = change.id.string else { return }
        let new = newEntries(change)
        try table.table.takeBack(oldEntries(change).filter { !$0.isIn(new) }, id: id, bucket)
    }
}

extension JSONValue {
    /// The object with that member, in its place where it has one of that name.
    func setting(_ name: String, _ value: JSONValue) -> JSONValue {
        guard var members = members else { return self }
        if let index = members.firstIndex(where: { $0.name == name }) {
            members[index].value = value
        } else {
            members.append(Member(name, value))
        }
        return .object(members)
    }
}
