// SPDX-License-Identifier: Apache-2.0

extension XMLElement {
    private static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

    /// The element as a document: UTF-8, compact, namespaces declared where they are needed. Of an element that has children
    /// the text between them is written only if it is in `textBetween`.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, inside: "")
        return bytes
    }

    /// - Parameter namespace: the one that a name without a prefix is in.
    private func write(to bytes: inout [UInt8], inside namespace: String) {
        bytes += "<\(name.local)".utf8
        if name.namespace != namespace { Self.write("xmlns", name.namespace, to: &bytes) }
        let sorted = attributes.sorted { ($0.key.namespace, $0.key.local) < ($1.key.namespace, $1.key.local) }
        for (number, (name, value)) in sorted.enumerated() {
            switch name.namespace {
            case "": Self.write(name.local, value, to: &bytes)
            case Self.xmlNamespace: Self.write("xml:\(name.local)", value, to: &bytes)
            default:
                Self.write("xmlns:n\(number)", name.namespace, to: &bytes)
                Self.write("n\(number):\(name.local)", value, to: &bytes)
            }
        }
        bytes += ">".utf8
        if children.isEmpty { bytes += XMLWriter.escape(text) }
        var between = textBetween[...]
        for child in children {
            bytes += XMLWriter.escape(between.popFirst() ?? "")
            child.write(to: &bytes, inside: name.namespace)
        }
        bytes += XMLWriter.escape(between.popFirst() ?? "")
        bytes += "</\(name.local)>".utf8
    }

    private static func write(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        bytes += " \(name)=\"".utf8
        bytes += XMLWriter.escape(value, inAttribute: true)
        bytes += "\"".utf8
    }
}
