// SPDX-License-Identifier: Apache-2.0

/// A statement that is prepared once on each connection.
struct Statement: Sendable {
    /// Under which a connection knows it, and an error names it: that of the function that needs it.
    let name: String
    let sql: String
    /// Whether it may be sent again when its outcome is unknown: it reads, or doing it twice does no more than
    /// doing it once, its answer included.
    let isRepeatable: Bool

    static func reading(_ name: String, _ sql: String) -> Statement {
        Statement(name: name, sql: sql, isRepeatable: true)
    }

    static func writing(_ name: String, _ sql: String) -> Statement {
        Statement(name: name, sql: sql, isRepeatable: false)
    }

    /// Writes the same however often it is done.
    static func writingOnce(_ name: String, _ sql: String) -> Statement {
        Statement(name: name, sql: sql, isRepeatable: true)
    }
}
