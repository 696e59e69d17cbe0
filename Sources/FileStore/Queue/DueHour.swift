// SPDX-License-Identifier: Apache-2.0
internal import Text

/// An hour in which messages are due. It names their file: `hub/due/2026-11-29T10.jsonl`.
struct DueHour: Hashable, Comparable {
    /// What a name lacks of a time.
    private static let rest = ":00:00Z"

    /// `2026-11-29T10`
    let name: String
    let start: Timestamp

    /// The hour that holds that moment.
    init(of time: Timestamp) {
        name = String(time.text.dropLast(Self.rest.utf8.count))
        start = Timestamp(text: name + Self.rest) ?? time
    }

    /// Nil for what names no hour.
    init?(name: String) {
        guard let start = Timestamp(text: name + Self.rest) else { return nil }
        (self.name, self.start) = (name, start)
    }

    func contains(_ time: Timestamp) -> Bool { time >= start && time < start + 3_600 }

    static func < (one: DueHour, other: DueHour) -> Bool { one.start < other.start }
}
