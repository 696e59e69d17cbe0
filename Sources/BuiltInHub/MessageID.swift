// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Text

/// Names of messages: 32 hexadecimal digits, the time, and two numbers, as the older generation of Azure's servers makes them.
///
/// The first number is 1, or the time before which the message is not delivered. A store keeps what waits by that time, so
/// without it a message could only be found by reading all that waits.
enum MessageID {
    private static let atOnce = "1"

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - notBefore: as `MessageRecord` has it.
    static func make(now: Int64, notBefore: Int64? = nil) -> String {
        let digits = String(decoding: TrackingID.random().utf8.filter { $0 != UInt8(ascii: "-") }, as: UTF8.self)
        return "\(digits)-\(HubTime(now).compact)-\(notBefore.map { String($0) } ?? atOnce)-01"
    }

    /// The time before which the message of that id is not delivered; nil: none, or this is no such id.
    static func notBefore(in id: String) -> Timestamp? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[2] != atOnce, let seconds = Int64(parts[2]) else { return nil }
        return Timestamp(seconds: seconds)
    }
}
