// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text

/// What the engine must know of a table's lines; the rest of a line is the table's own affair.
struct TableSchema: Sendable {
    /// The folder: `notifications`, `hub/tags`.
    let name: String
    /// The member whose hash chooses the bucket: `owner`, or `id` itself.
    let key: String
    /// Whether the table begins as one file (`users.jsonl`) instead of 256 (`notifications/3f.jsonl`).
    var beginsWhole = false
    /// Whether records are dropped at the time in their `expiresAt`.
    var expires = false
    /// Whether the next sweep takes what was removed from the disk; in other tables that waits until it is worth it.
    var erasesRemoved = false
    /// Records of one key that a rewriting of their file keeps, the newest ones; nil: all.
    var recordsPerKey: Int?
    /// Records of the whole table that rewritings keep, the newest ones of each file's share; nil: all. A table with such a
    /// bound is not split.
    var maximumRecords: Int?
    /// Hears the ids of records that a rewriting has dropped because there were too many. Called under the file's lock.
    var onForgotten: @Sendable ([String]) -> Void = { _ in }
    /// Whether the members of a record's line are of the kinds that the table needs.
    let accepts: @Sendable (JSONValue) -> Bool

    var keyIsID: Bool { key == "id" }

    /// - Parameter line: of a record.
    func isExpired(_ line: JSONValue, now: Timestamp) -> Bool {
        guard expires, let end = line.time("expiresAt") else { return false }
        return end <= now
    }
}

/// A record that is kept as one line.
protocol LineRecord: Sendable {
    /// Nil when a member is missing or of a wrong kind. Members that it does not know are ignored.
    init?(line: JSONValue)
    /// The names of all members that `write(to:)` may write.
    static var members: Set<String> { get }
    /// Writes all members, `id` first and then the table's key, so that `LineProbe` can tell lines by their beginning.
    func write(to json: inout JSONWriter)
}

extension String {
    /// Equality of bytes. Swift's own takes `é` of one and of two code points for equal; they are two names here, as
    /// they have two hashes.
    package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension JSONValue {
    /// The time in a member; nil when there is none or it is no time.
    func time(_ name: String) -> Timestamp? {
        self[name]?.string.flatMap { Timestamp(text: $0) }
    }

    /// What a member holds. The outer nil: something else than that; the inner: absent.
    func optional<Value>(_ name: String, _ read: (JSONValue) -> Value?) -> Value?? {
        guard let value = self[name] else { return .some(nil) }
        return read(value).map { .some($0) } ?? nil
    }

    /// The text as a time; nil when it is none.
    var time: Timestamp? { string.flatMap { Timestamp(text: $0) } }

    /// The texts in a member. The outer nil: a value that is no array of texts; the inner: absent or null.
    func texts(_ name: String) -> [String]?? {
        guard let value = self[name], !value.isNull else { return .some(nil) }
        guard let elements = value.array else { return nil }
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? texts : nil
    }

    /// The count of writes in `version`: 1 where it is absent, as in a line made by hand; nil when it is no such count.
    var version: Int? {
        guard let value = self["version"] else { return 1 }
        return value.integer.flatMap { $0 > 0 && $0 < .max ? $0 : nil }
    }
}
