// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
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
    /// Whether, of too many records of the whole table, those go first of which their owner has most; else the oldest go.
    var sharesRecords = false
    /// Hears the records that a rewriting has dropped because there were too many. Called under the file's lock.
    var onForgotten: (@Sendable ([JSONValue]) -> Void)?
    /// Whether the members of a record's line are of the kinds that the table needs.
    let accepts: @Sendable (JSONValue) -> Bool
    /// Whether a caller asks for the records of a key, a few of a file's, and not only for one record of it.
    var listsKeys = true

    var keyIsID: Bool { key == "id" }

    /// - Parameter line: of a record.
    func isExpired(_ line: JSONValue, now: Timestamp) -> Bool {
        guard expires, let end = line.time("expiresAt") else { return false }
        return end <= now
    }
}
