// SPDX-License-Identifier: Apache-2.0
package import JSON

/// The one place in which a kind of record is described. Its lines, exports and columns follow from it.
package struct Kind<Record: Sendable>: Sendable {
    /// The name of its table in files and exports.
    package let name: String
    /// The values of members that a line leaves out.
    package let blank: Record
    /// In the order in which a line has them: `id` first and then the table's key, so that a reader can tell lines by their beginning.
    package let fields: [Field<Record>]
    /// The names of all members.
    package let members: Set<String>
    /// Whether its lines have a version that its records do not have (`Versioned`).
    package let isVersioned: Bool

    package init(_ name: String, blank: Record, isVersioned: Bool = false, fields: [Field<Record>]) {
        (self.name, self.blank, self.isVersioned, self.fields) = (name, blank, isVersioned, fields)
        members = Set(fields.map(\.name))
    }

    /// - Returns: nil if a member is missing or of a wrong kind. Members that the kind does not have are passed over.
    package func record(_ line: JSONValue) -> Record? {
        guard case .object(let members) = line else { return nil }
        var record = blank
        // Lines have their members in this order, so each is looked for behind the last one first.
        var next = 0
        for field in fields {
            let isNext = next < members.count && members[next].name == field.name
            guard let index = isNext ? next : members.firstIndex(where: { $0.name == field.name }) else {
                guard field.read(nil, &record) else { return nil }
                continue
            }
            guard field.read(members[index].value, &record) else { return nil }
            next = index + 1
        }
        return record
    }

    /// - Parameter first: the number of the first field to be written.
    package func write(_ record: Record, from first: Int = 0, to json: inout JSONWriter) {
        for field in fields[first...] { field.write(record, &json) }
    }

    /// What a column has for the member of that name, such as a table's key; nil if there is no such member.
    package func content(_ member: String, of record: Record) -> ColumnValue? {
        fields.first { $0.name == member }?.column.value(record)
    }
}

/// A record that a kind describes.
package protocol KindRecord: LineRecord, Hashable {
    static var kind: Kind<Self> { get }
}

extension KindRecord {
    package static var members: Set<String> { kind.members }

    package init?(line: JSONValue) {
        guard let record = Self.kind.record(line) else { return nil }
        self = record
    }

    package func write(to json: inout JSONWriter) { Self.kind.write(self, to: &json) }
}

/// A record beside the version that its line has because all indexed records have one.
package struct Versioned<Record: KindRecord & Identifiable>: LineRecord where Record.ID == String {
    package static var members: Set<String> { Record.members.union(["version"]) }

    package var record: Record
    package var version: Int

    package var id: String { record.id }

    package init(_ record: Record, version: Int = 0) {
        (self.record, self.version) = (record, version)
    }

    package init?(line: JSONValue) {
        guard let record = Record(line: line), let version = line.version else { return nil }
        self.init(record, version: version)
    }

    package func write(to json: inout JSONWriter) {
        record.write(to: &json)
        json.member("version", version)
    }
}
