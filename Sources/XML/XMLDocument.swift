// SPDX-License-Identifier: Apache-2.0
import CExpat
import Glibc

/// Reads XML 1.0 with libexpat; the only file that knows it.
///
/// Documents come from outside, therefore: no document type (so no entity can grow or fetch anything), UTF-8 whatever
/// the declaration says, and limits on bytes, elements and depth.
package enum XMLDocument {
    /// In bytes. A page of 100 registrations with the longest templates and tags stays below.
    package static let maximumBytes = 4 * 1024 * 1024
    package static let maximumElements = 65_536
    /// Elements within each other.
    package static let maximumDepth = 16
    /// Bytes of a name and its namespace, which each element repeats that is in it.
    package static let maximumNameLength = 512

    /// The root element.
    /// - Throws: `XMLError`.
    package static func parse(_ bytes: [UInt8]) throws(XMLError) -> XMLElement {
        guard !bytes.isEmpty else { throw XMLError.notWellFormed(offset: 0) }
        guard bytes.count <= maximumBytes, let length = Int32(exactly: bytes.count) else { throw XMLError.tooLarge }
        // XML_ParserCreateNS: names arrive as namespace, separator, local name. Expat refuses a namespace that holds
        // the separator. The encoding given here outranks the document's own declaration.
        guard let parser = XML_ParserCreateNS("UTF-8", separator) else { throw XMLError.outOfMemory }
        defer { XML_ParserFree(parser) }
        let builder = XMLTreeBuilder(parser: parser)
        return try withExtendedLifetime(builder) { () throws(XMLError) in
            builder.install()
            // XML_Parse: the bytes are only borrowed for the call.
            let status = bytes.withUnsafeBytes {
                XML_Parse(parser, $0.bindMemory(to: CChar.self).baseAddress, length, 1)
            }
            if let error = builder.error { throw error }
            guard status == XML_STATUS_OK, let root = builder.root else {
                throw .notWellFormed(offset: max(0, Int(XML_GetCurrentByteIndex(parser))))
            }
            return root
        }
    }
}

/// Why a document was not read. It never repeats the document.
package enum XMLError: Error, Equatable, Sendable {
    /// The byte that is wrong; the length of the document when it ends too early.
    case notWellFormed(offset: Int)
    /// More bytes, elements or bytes of a name than the limit.
    case tooLarge
    case tooDeep
    /// A DOCTYPE, which no document of the hub has.
    case documentType
    case outOfMemory
}

private let separator: XML_Char = 0x0A

/// What expat's callbacks fill. It lives on one thread, for one call of `XML_Parse`.
private final class XMLTreeBuilder {
    private let parser: XML_Parser
    private var open: [XMLElement] = []
    /// The text of each open element, in bytes: expat cuts text anywhere between two characters.
    private var text: [[UInt8]] = []
    /// For each open element and each of its children, how much of the text is before the child.
    private var cuts: [[Int]] = []
    private var elements = 0
    private(set) var root: XMLElement?
    private(set) var error: XMLError?

    init(parser: XML_Parser) {
        self.parser = parser
    }

    /// Hands expat the callbacks and this object, which the caller keeps alive until `XML_Parse` returns.
    func install() {
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { XMLTreeBuilder.from($0)?.start($1, attributes: $2) },
            { context, _ in XMLTreeBuilder.from(context)?.end() })
        XML_SetCharacterDataHandler(parser) { context, bytes, count in
            XMLTreeBuilder.from(context)?.append(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
        XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
            XMLTreeBuilder.from(context)?.stop(.documentType)
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> XMLTreeBuilder? {
        context.map { Unmanaged<XMLTreeBuilder>.fromOpaque($0).takeUnretainedValue() }
    }

    private func start(_ name: UnsafePointer<XML_Char>?, attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?) {
        // Expat may call back a few times more after XML_StopParser.
        guard error == nil, let name else { return }
        elements += 1
        guard elements <= XMLDocument.maximumElements else { return stop(.tooLarge) }
        guard open.count < XMLDocument.maximumDepth else { return stop(.tooDeep) }
        guard !Self.isTooLong(name) else { return stop(.tooLarge) }
        var element = XMLElement(name: Self.name(name))
        // A list of name, value, name, value, and a null pointer.
        var rest = attributes
        while let pair = rest, let name = pair[0], let value = pair[1] {
            guard !Self.isTooLong(name) else { return stop(.tooLarge) }
            element.attributes[Self.name(name)] = String(cString: value)
            rest = pair + 2
        }
        if !cuts.isEmpty { cuts[cuts.count - 1].append(text.last?.count ?? 0) }
        open.append(element)
        text.append([])
        cuts.append([])
    }

    private func end() {
        guard error == nil, var element = open.popLast(), let bytes = text.popLast(), let cuts = cuts.popLast() else {
            return
        }
        element.text = String(decoding: bytes, as: UTF8.self)
        if !cuts.isEmpty, !bytes.allSatisfy({ " \n\r\t".utf8.contains($0) }) {
            element.textBetween = zip([0] + cuts, cuts + [bytes.count]).map { from, to in
                String(decoding: bytes[from..<to], as: UTF8.self)
            }
        }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    private func append(_ bytes: UnsafeBufferPointer<XML_Char>) {
        guard error == nil, !text.isEmpty else { return }
        text[text.count - 1].append(contentsOf: bytes.lazy.map { UInt8(bitPattern: $0) })
    }

    private func stop(_ error: XMLError) {
        if self.error == nil { self.error = error }
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    private static func isTooLong(_ name: UnsafePointer<XML_Char>) -> Bool {
        strnlen(name, XMLDocument.maximumNameLength + 1) > XMLDocument.maximumNameLength
    }

    private static func name(_ text: UnsafePointer<XML_Char>) -> XMLName {
        let whole = String(cString: text)
        guard let end = whole.utf8.lastIndex(of: UInt8(ascii: "\n")) else { return .plain(whole) }
        return XMLName(
            namespace: String(whole[..<end]), local: String(Substring(whole.utf8[whole.utf8.index(after: end)...])))
    }
}
