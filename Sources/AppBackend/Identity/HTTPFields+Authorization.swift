// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Text

extension HTTPFields {
    /// What follows the scheme in `Authorization`. It is not a list (RFC 9110 section 11.6.2), so two fields are ambiguous
    /// and none of them counts.
    /// - Parameter scheme: in lower case; compared without regard to case.
    /// - Returns: nil for another scheme as well.
    func authorization(_ scheme: String) -> Substring.UTF8View? {
        let values = self[values: .authorization]
        guard values.count == 1, let value = values.first?.utf8,
            let blank = value.firstIndex(of: UInt8(ascii: " ")),
            value[..<blank].elementsEqual(scheme.utf8, by: { ASCII.lowercased($0) == $1 })
        else { return nil }
        return value[blank...].drop { $0 == UInt8(ascii: " ") }
    }
}
