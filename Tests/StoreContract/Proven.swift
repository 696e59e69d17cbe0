// SPDX-License-Identifier: Apache-2.0
package import Store

/// A record with one field more than its kind has, which stores keep without being told.
package struct Proven<Base: KindRecord>: KindRecord {
    package var base: Base
    package var proof: String?

    package init(_ base: Base, proof: String? = nil) { (self.base, self.proof) = (base, proof) }

    package static var kind: Kind<Proven> {
        let kind = Base.kind
        return Kind(
            kind.name, blank: Proven(kind.blank), isVersioned: kind.isVersioned,
            fields: kind.fields.map(lift) + [.optional("proofOfAll", { $0.proof }, { $0.proof = $1 })])
    }

    private static func lift(_ field: Field<Base>) -> Field<Proven> {
        let column = field.column
        return Field(
            name: field.name,
            column: Column(column.name, absent: column.absent, value: { column.value($0.base) }) {
                column.load($0, &$1.base)
            },
            read: { field.read($0, &$1.base) }, write: { field.write($0.base, &$1) })
    }
}

/// A kind that no store has ever heard of. This is all that is written of it.
package struct Boat: KindRecord {
    package var id: String
    package var owner: String
    package var crew: [String] = []
    package var isAfloat = false
    package var length: Int?

    package init(id: String, owner: String) { (self.id, self.owner) = (id, owner) }

    package static let kind = Kind(
        "boats", blank: Boat(id: "", owner: ""),
        fields: [
            .required("id", { $0.id }, { $0.id = $1 }),
            .required("owner", { $0.owner }, { $0.owner = $1 }),
            .defaulting("crew", to: [], written: { !$0.isEmpty }, { $0.crew }, { $0.crew = $1 }),
            .flag("afloat", column: "is_afloat", { $0.isAfloat }, { $0.isAfloat = $1 }),
            .optional("length", { $0.length }, { $0.length = $1 }),
        ])

    /// With a value in every field, and with the fewest.
    package static let samples: [Boat] = {
        var full = Boat(id: "full", owner: "alice")
        (full.crew, full.isAfloat, full.length) = (["bob", "c\u{E9}line"], true, 7)
        return [full, Boat(id: "bare", owner: "bob")]
    }()
}

extension RecordSample {
    /// Every record of the samples, with the field that its kind does not have.
    package static let proven: [StoredRecord] = all.flatMap { [prove($0.full), prove($0.bare)] }

    private static func prove(_ stored: StoredRecord) -> StoredRecord {
        func prove<Base: KindRecord>(_ record: Base) -> StoredRecord {
            StoredRecord(Proven(record, proof: "kept"), in: stored.table)
        }
        return prove(stored.record)
    }

    /// The proven form of a kind.
    package static func proven<Base: KindRecord>(_ type: Base.Type) -> any KindRecord.Type { Proven<Base>.self }
}
