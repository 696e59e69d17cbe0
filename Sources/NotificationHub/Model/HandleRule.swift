// SPDX-License-Identifier: Apache-2.0
internal import Text

/// Which rule a push handle breaks. It never repeats the handle.
package enum HandleError: String, Error, Sendable, CustomStringConvertible {
    case empty = "the handle is empty"
    case tooLong = "the handle is too long"
    case notHexadecimal = "an APNs token is an even number of hexadecimal digits"
    /// `[token description]` of iOS 13 and later, which old apps take for the token's digits.
    case tokenDescription =
        "this is the description of a token since iOS 13, not the token; the app must write its bytes as hexadecimal digits"
    case notVisibleASCII = "the handle has a character that is not visible ASCII"
    case notHTTPS = "the handle must be an https URI"
    case badURI = "the handle is not a URI of host and path"
    case badPublicKey = "p256dh must be Base64 of an uncompressed P-256 point"
    case badAuthSecret = "auth must be Base64 of 16 bytes"

    package var description: String { rawValue }
}

/// What a push handle must look like, and its one stored form.
enum HandleRule {
    /// Apple's tokens have 64 digits and may grow; the limit is ours.
    static let maximumHexadecimalDigits = 512
    /// In bytes.
    static let maximumTokenLength = 4096
    /// In bytes.
    static let maximumURILength = 2048

    /// In upper case, as the hub stores it, and without what `[token description]` of iOS 12 and earlier writes around and
    /// between the digits: `<752efc88 c1f7d1b3 …>`.
    static func hexadecimal(_ text: String) throws(HandleError) -> String {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= 2 * maximumHexadecimalDigits else { throw .tooLong }
        guard !isDescription(text) else { throw .tokenDescription }
        var digits = text.utf8.filter { $0 != UInt8(ascii: " ") }[...]
        if digits.first == UInt8(ascii: "<"), digits.last == UInt8(ascii: ">") {
            digits = digits.dropFirst().dropLast()
        }
        guard digits.count <= maximumHexadecimalDigits else { throw .tooLong }
        guard !digits.isEmpty, digits.count.isMultiple(of: 2), digits.allSatisfy({ ASCII.hexValue($0) != nil }) else {
            throw .notHexadecimal
        }
        return String(decoding: digits, as: UTF8.self).uppercased()
    }

    /// `{length = 32, bytes = 0x752efc88 … ab393847}`; the tutorials' apps take the blanks out and make it upper case.
    private static func isDescription(_ text: String) -> Bool {
        text.utf8.contains(UInt8(ascii: "{"))
            && text.lowercased().utf8.filter { $0 != UInt8(ascii: " ") }.starts(with: "{length=".utf8)
    }

    static func visible(_ text: String) throws(HandleError) -> String {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= maximumTokenLength else { throw .tooLong }
        guard text.utf8.allSatisfy(isVisible) else { throw .notVisibleASCII }
        return text
    }

    /// As the hub stores it: scheme and host in lower case, no default port, `/` for an empty path.
    static func channelURI(_ text: String) throws(HandleError) -> String {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= maximumURILength else { throw .tooLong }
        let scheme = "https://"
        guard text.utf8.count >= scheme.utf8.count,
            zip(text.utf8, scheme.utf8).allSatisfy({ ASCII.lowercased($0) == $1 })
        else { throw .notHTTPS }
        guard text.utf8.allSatisfy({ isVisible($0) && !"\"<>\\^`{|}#".utf8.contains($0) }) else { throw .badURI }
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard let authority = Authority(Substring(rest[..<end])) else { throw .badURI }
        let host = authority.port == 443 ? authority.host : authority.description
        let path = String(Substring(rest[end...]))
        return scheme + host + (path.utf8.first == UInt8(ascii: "/") ? path : "/" + path)
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }
}
