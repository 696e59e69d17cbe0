// SPDX-License-Identifier: Apache-2.0
internal import Text
import XML

/// The body of an answer that is not a success: `<Error><Code>404</Code><Detail>…</Detail></Error>`, in no namespace.
package struct ErrorDocument: Equatable, Sendable {
    /// Usually the HTTP status.
    package var code: String
    /// A sentence and the tracking id. It may repeat tags and handles of the request, so it belongs in no log.
    package var detail: String

    package init(code: String, detail: String) {
        self.code = code
        self.detail = detail
    }

    /// - Throws: `AtomError`, when it is another document.
    package init(decoding bytes: [UInt8]) throws(AtomError) {
        let root = try AtomError.root(of: bytes)
        guard root.name == .plain("Error"), let code = root.child(.plain("Code")) else { throw .unexpectedElement }
        self.init(code: code.text, detail: root.child(.plain("Detail"))?.text ?? "")
    }

    package func encode() -> [UInt8] {
        var xml = XMLWriter()
        xml.element("Error") { xml in
            xml.element("Code", code)
            xml.element("Detail", detail)
        }
        return xml.bytes
    }

    /// A code longer than this is cut, in characters.
    static let maximumCodeLength = 32

    /// What may be logged: the `SubCode=40900` inside the detail where there is one, otherwise the code.
    package var loggableCode: String {
        let marker = "SubCode="
        var rest = Substring(detail).utf8
        while !rest.isEmpty, !rest.starts(with: marker.utf8) { rest.removeFirst() }
        let digits = rest.dropFirst(marker.utf8.count).prefix(while: ASCII.isDigit)
        let code = digits.isEmpty ? self.code.utf8.filter(ASCII.isAlphanumeric) : Array(digits)
        return String(decoding: code.prefix(Self.maximumCodeLength), as: UTF8.self)
    }
}
