// SPDX-License-Identifier: Apache-2.0

/// An element of a document that was read: namespaces are URIs, prefixes are gone.
package struct XMLElement: Equatable, Sendable {
    package var name: XMLName
    package var attributes: [XMLName: String] = [:]
    package var children: [XMLElement] = []
    /// All text directly inside, joined; CDATA and escaped text are the same here.
    package var text = ""
    /// The text before each child and behind the last one, if any of it is more than blanks; else empty.
    package var textBetween: [String] = []

    package init(name: XMLName) {
        self.name = name
    }

    /// The first child of that name.
    package func child(_ name: XMLName) -> XMLElement? { children.first { $0.name == name } }

    /// Whether the element says that it has no value, which is the same as not being there.
    package var isNil: Bool {
        let value = attributes[.instance("nil")]
        return value == "true" || value == "1"
    }
}

/// A name in a namespace.
package struct XMLName: Hashable, Sendable {
    /// Empty for a name in no namespace, as of most attributes.
    package var namespace: String
    package var local: String

    package init(namespace: String = "", local: String) {
        (self.namespace, self.local) = (namespace, local)
    }

    package static func plain(_ local: String) -> XMLName { XMLName(local: local) }
    /// XML Schema's attributes `nil` and `type`.
    package static func instance(_ local: String) -> XMLName { XMLName(namespace: instanceNamespace, local: local) }
    package static let instanceNamespace = "http://www.w3.org/2001/XMLSchema-instance"
}
