// SPDX-License-Identifier: Apache-2.0
import NotificationHub

/// The condition of a write, in the five spellings that clients use: `W/"2"`, `"2"`, `2`, `*` and `"*"`.
extension VersionCondition {
    /// - Throws: `HubFault`, 412, for any other text.
    init(_ text: String) throws(HubFault) {
        var bytes = Substring(text).utf8
        while bytes.first == UInt8(ascii: " ") { bytes.removeFirst() }
        while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
        if bytes.starts(with: "W/".utf8) || bytes.starts(with: "w/".utf8) { bytes = bytes.dropFirst(2) }
        if bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") {
            bytes = bytes.dropFirst().dropLast()
        }
        if bytes.elementsEqual("*".utf8) {
            self = .any
        } else if let version = Int(String(Substring(bytes))), version > 0, bytes.first != UInt8(ascii: "+") {
            self = .version(version)
        } else {
            throw .versionMismatch
        }
    }

    /// Nil without the field.
    init?(field text: String?) throws(HubFault) {
        guard let text else { return nil }
        self = try VersionCondition(text)
    }
}
