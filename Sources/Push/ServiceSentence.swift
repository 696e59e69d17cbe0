// SPDX-License-Identifier: Apache-2.0
package import Text

/// What a service says of a failure, made fit for the operator's log: one line of bounded length, without what could be a
/// token or a key.
package struct ServiceSentence: Sendable {
    /// In characters.
    package static let maximumLength = 300
    /// A longer word may be a token; addresses of a console, which the operator needs, have about 100.
    static let maximumWordLength = 120

    package let text: String

    /// - Parameter secrets: a sentence that repeats one of them is not shown at all.
    /// - Returns: nil when nothing is left.
    package init?(_ text: String, without secrets: [Secret] = []) {
        guard !secrets.contains(where: { text.contains($0.reveal()) }) else { return nil }
        let printable = text.unicodeScalars.prefix(4 * Self.maximumLength).map { scalar in
            scalar.value >= 0x20 && scalar.value < 0x7F ? Character(scalar) : " "
        }
        let words = String(printable).split(separator: " ").map { $0.count > Self.maximumWordLength ? "…" : $0 }
        let line = words.joined(separator: " ")
        guard !line.isEmpty else { return nil }
        self.text = line.count > Self.maximumLength ? line.prefix(Self.maximumLength) + "…" : line
    }
}
