// SPDX-License-Identifier: Apache-2.0
import NotificationHub

/// What a document says, element by element in order: `Tags=a,b`, `link{rel=self}=`. Read by another, simpler reader
/// than the one under test: it trusts its input to be well formed.
struct ElementList: Equatable, CustomStringConvertible {
    private(set) var lines: [String] = []

    var description: String { lines.joined(separator: "\n") }

    init(_ document: String) {
        var rest = Substring(document)
        var open: [Int] = []
        while !rest.isEmpty {
            if let data = Self.cut(&rest, from: "<![CDATA[", to: "]]>") {
                if let index = open.last { lines[index] += data }
            } else if Self.cut(&rest, from: "<?", to: "?>") != nil {
                continue
            } else if Self.cut(&rest, from: "</", to: ">") != nil {
                open.removeLast()
            } else if let tag = Self.cut(&rest, from: "<", to: ">") {
                lines.append(Self.start(tag))
                if !tag.hasSuffix("/") { open.append(lines.count - 1) }
            } else {
                let text = rest.prefix { $0 != "<" }
                rest = rest.dropFirst(text.count)
                if let index = open.last { lines[index] += Self.plain(text) }
            }
        }
    }

    private static func cut(_ rest: inout Substring, from start: String, to end: String) -> Substring? {
        guard rest.hasPrefix(start), let range = rest.firstRange(of: end) else { return nil }
        let inside = rest[rest.index(rest.startIndex, offsetBy: start.count)..<range.lowerBound]
        rest = rest[range.upperBound...]
        return inside
    }

    /// Name and attributes but for the namespaces, whose order and prefixes mean nothing.
    private static func start(_ tag: Substring) -> String {
        let tag = tag.hasSuffix("/") ? tag.dropLast() : tag
        let name = tag.prefix { $0 != " " }
        let parts = tag.dropFirst(name.count).split(separator: "\"", omittingEmptySubsequences: false)
        var attributes: [String] = []
        for (index, part) in parts.enumerated() where part.hasSuffix("=") {
            let attribute = part.drop { $0 == " " }
            if !attribute.hasPrefix("xmlns") { attributes.append(attribute + plain(parts[index + 1])) }
        }
        return "\(name){\(attributes.sorted().joined(separator: " "))}="
    }

    private static func plain(_ text: Substring) -> String {
        let entities = [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#13;", "\r"), ("&#10;", "\n"), ("&amp;", "&"),
        ]
        return entities.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }
}
