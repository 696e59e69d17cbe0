// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Text

extension HTTPFields {
    /// What follows the scheme in `Authorization`. It is not a list (RFC 9110 section 11.6.2), so two fields are ambiguous
    /// and none of them counts.
    /// - Parameter scheme: in lower case; compared without regard to case.
    /// - Returns: nil for another scheme as well; empty where nothing follows.
    func authorization(_ scheme: String) -> Substring.UTF8View? {
        guard let value = only(.authorization)?.utf8 else { return nil }
        let end = value.firstIndex(of: UInt8(ascii: " ")) ?? value.endIndex
        guard value[..<end].elementsEqual(scheme.utf8, by: { ASCII.lowercased($0) == $1 }) else { return nil }
        return value[end...].drop { $0 == UInt8(ascii: " ") }
    }
}
