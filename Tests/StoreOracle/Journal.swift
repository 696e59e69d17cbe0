// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What is kept, and compared.
enum Kind: String, CaseIterable {
    case notification, registration, device, session, user, message, request
}

/// What a writer tells of its work, a line each: `? device w-0-17 owner-3#1` before it begins, `+ …` when it was promised.
///
/// Each line is one write(2) of less than a page, so a kill leaves all of it or nothing.
struct Journal: Sendable {
    enum Mark: String {
        /// The record is about to become that.
        case intent = "?"
        /// It was promised.
        case promise = "+"
        /// It was promised as far as a kill goes; a loss of power may take it back.
        case hint = "="
        /// It was refused, and must not have become that.
        case refusal = "!"
        /// No record: the writer has come that far.
        case remark = "#"
    }

    /// Stands for a record that is not there.
    static let absent = "-"

    func note(_ mark: Mark, _ words: String...) {
        let line = ([mark.rawValue] + words).joined(separator: " ") + "\n"
        // There is no reader: the process that started this one is gone.
        guard write(STDOUT_FILENO, line, line.utf8.count) == line.utf8.count else { exit(74) }
    }
}
