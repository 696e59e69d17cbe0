// SPDX-License-Identifier: Apache-2.0
package import JSON
package import Text

/// A record that is kept as one line.
package protocol LineRecord: Sendable {
    /// Nil when a member is missing or of a wrong kind. Members that it does not know are ignored.
    init?(line: JSONValue)
    /// The names of all members that `write(to:)` may write.
    static var members: Set<String> { get }
    /// Writes all members, `id` first and then the table's key, so that a reader can tell lines by their beginning.
    func write(to json: inout JSONWriter)
}

extension LineRecord {
    /// Whether both are the same line. Texts that only look alike are not, as `String.hasSameBytes(as:)` says.
    package func hasSameBytes(as other: Self) -> Bool { bytes == other.bytes }

    private var bytes: [UInt8] {
        JSONWriter.object(reservingCapacity: 512) { write(to: &$0) }.bytes
    }
}

extension String {
    /// Equality of bytes. Swift's own takes `é` of one and of two code points for equal; they are two names here, as
    /// they have two hashes.
    package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension JSONValue {
    /// The time in a member; nil when there is none or it is no time.
    package func time(_ name: String) -> Timestamp? {
        self[name]?.string.flatMap { Timestamp(text: $0) }
    }

    /// What a member holds. The outer nil: something else than that; the inner: absent.
    package func optional<Value>(_ name: String, _ read: (JSONValue) -> Value?) -> Value?? {
        guard let value = self[name] else { return .some(nil) }
        return read(value).map { .some($0) } ?? nil
    }

    /// The text as a time; nil when it is not one.
    package var time: Timestamp? { string.flatMap { Timestamp(text: $0) } }

    /// The count of writes in `version`: 1 where it is absent, as in a line made by hand; nil when it is no such count.
    package var version: Int? {
        guard let value = self["version"] else { return 1 }
        return value.integer.flatMap { $0 > 0 && $0 < .max ? $0 : nil }
    }
}
