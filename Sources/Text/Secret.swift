// SPDX-License-Identifier: Apache-2.0

/// A text that no log, error or debugger may show: a key, a password, a token.
///
/// It prints as `***` however it is printed, also as a member of something else. Only `reveal()` gives the text.
package struct Secret: Redacted, Sendable {
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The text itself, for the one place that computes with it. Never hand the result to a log.
    package func reveal() -> String { text }
}

extension Secret: Equatable {
    /// Takes the same time wherever the texts differ; only their lengths show.
    package static func == (one: Secret, other: Secret) -> Bool {
        guard one.text.utf8.count == other.text.utf8.count else { return false }
        return zip(one.text.utf8, other.text.utf8).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// Prints as `***` however it is printed, also as a member of something else, unless it says what of it may be seen.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    package var description: String { "***" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
