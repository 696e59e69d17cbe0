// SPDX-License-Identifier: Apache-2.0

/// Writes XML 1.0 into bytes: UTF-8, compact, every value escaped.
///
/// No prefixes and no line breaks: Microsoft's own clients look for literal element names and stumble over whitespace.
///
///     var xml = XMLWriter()
///     xml.element("toast") { $0.element("text", "a < b", attributes: ["id": "1"]) }
package struct XMLWriter {
    /// What was written so far.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Writes `<name …>`, what `body` writes, and `</name>`.
    /// - Parameter name: a literal of ours; it is not escaped, nor are the attributes' names.
    package mutating func element(
        _ name: String, attributes: KeyValuePairs<String, String> = [:],
        _ body: (inout XMLWriter) throws -> Void
    ) rethrows {
        open(name, attributes)
        raw(">")
        try body(&self)
        raw("</\(name)>")
    }

    /// Writes an element that holds this text alone.
    package mutating func element(
        _ name: String, _ text: String, attributes: KeyValuePairs<String, String> = [:]
    ) {
        element(name, attributes: attributes) { $0.text(text) }
    }

    /// Writes `<name …/>`.
    package mutating func emptyElement(_ name: String, attributes: KeyValuePairs<String, String> = [:]) {
        open(name, attributes)
        raw("/>")
    }

    /// Writes escaped text.
    package mutating func text(_ text: String) {
        bytes += Self.escape(text)
    }

    /// Writes the text as CDATA, as the hub does with templates; a `]]>` inside is cut in two. A text that CDATA cannot
    /// carry (a carriage return, which a reader would make a line feed) is escaped instead; readers see no difference.
    package mutating func cdata(_ text: String) {
        guard text.unicodeScalars.allSatisfy({ Self.isLegal($0) && $0 != "\r" }) else { return self.text(text) }
        raw("<![CDATA[")
        var brackets = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: ">"), brackets >= 2 { raw("]]><![CDATA[") }
            brackets = byte == UInt8(ascii: "]") ? brackets + 1 : 0
            bytes.append(byte)
        }
        raw("]]>")
    }

    /// The text as it may be in an element or, between quotation marks, in an attribute.
    ///
    /// Control characters that XML 1.0 cannot carry at all become U+FFFD: the rest of the text still arrives.
    package static func escape(_ text: String, inAttribute: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": bytes += "&amp;".utf8
            case "<": bytes += "&lt;".utf8
            case ">": bytes += "&gt;".utf8
            // Written plainly, a reader would make these a line feed or a blank (XML 1.0, 2.11 and 3.3.3).
            case "\r": bytes += "&#13;".utf8
            case "\n" where inAttribute: bytes += "&#10;".utf8
            case "\t" where inAttribute: bytes += "&#9;".utf8
            case "\"" where inAttribute: bytes += "&quot;".utf8
            default:
                guard let encoded = UTF8.encode(isLegal(scalar) ? scalar : "\u{FFFD}") else { continue }
                bytes.append(contentsOf: encoded)
            }
        }
        return bytes
    }

    /// XML 1.0 section 2.2, production `Char`.
    private static func isLegal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    private mutating func open(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        raw("<\(name)")
        for (name, value) in attributes {
            raw(" \(name)=\"")
            bytes += Self.escape(value, inAttribute: true)
            raw("\"")
        }
    }

    private mutating func raw(_ text: String) {
        bytes += text.utf8
    }
}
