// SPDX-License-Identifier: Apache-2.0
import JSON
import Store
import StoreContract
import Support
import Testing
import Text

@testable import FileStore

/// Records are kept by what their kinds say, and by nothing else.
@Suite struct KindTests {
    private static let kinds = StoredRecord.kinds.map { RecordSample.proven($0) } + [Boat.self]
    private static let records =
        RecordSample.proven.filter { $0.table != "hub/due" && $0.table != "hub/queue" && $0.table != "scheduled" }
        + Boat.samples.map { StoredRecord($0) }

    @Test func `a field and a kind that were just described are exported and imported`() throws {
        var (writer, reader) = (ExportWriter(), ExportReader(decoders: StoredRecord.decoders(of: Self.kinds)))
        let lines = [writer.header(version: "", now: noon)] + Self.records.map { writer.line($0) } + [writer.trailer]
        let read = try lines.compactMap { line in
            try line.dropLast().withContiguousStorageIfAvailable { try reader.read($0) } ?? nil
        }
        #expect(read == Self.records && reader.hasEnded)
    }

    @Test func `a field and a kind that were just described are kept in files`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        for kind in Self.kinds { try keep(kind, in: store) }
        withExtendedLifetime(folder) {}
    }

    private func keep<Record: KindRecord>(_ kind: Record.Type, in store: FileSiteStore) throws {
        let records = Self.records.compactMap { $0.record as? Record }
        let isNumbered = if case .integer? = Record.kind.content("id", of: Record.kind.blank) { true } else { false }
        let key = isNumbered ? "owner" : "id"
        let name = "proof-" + Record.kind.name.replacing("/", with: "-")
        let table = BucketTable(
            store.context, TableSchema(name: name, key: key, beginsWhole: true) { Record(line: $0) != nil },
            try BucketLocks(store.context, name: "lock/" + name))
        let place = RecordPlace(table, Record.self)
        var toTable = RecordImport(table, now: noon)
        #expect(try toTable.put(records.compactMap(place.incoming)) == records.count)
        var found: Set<Record> = []
        try table.forEachFile { (content, _) throws(StoreError) in
            found.formUnion(CurrentRecords(content, table).decoded(as: Record.self))
        }
        #expect(found == Set(records) && !found.isEmpty)
    }
}
