// SPDX-License-Identifier: Apache-2.0

/// An element of a document that was read: namespaces are URIs, prefixes are gone.
struct XMLElement: Equatable, Sendable {
    var name: XMLName
    var attributes: [XMLName: String] = [:]
    var children: [XMLElement] = []
    /// All text directly inside, joined; CDATA and escaped text are the same here.
    var text = ""

    /// The first child of that name.
    func child(_ name: XMLName) -> XMLElement? { children.first { $0.name == name } }

    /// Whether the element says that it has no value, which is the same as not being there.
    var isNil: Bool {
        let value = attributes[.instance("nil")]
        return value == "true" || value == "1"
    }
}

/// A name in a namespace.
struct XMLName: Hashable, Sendable {
    /// Empty for a name in no namespace, as of most attributes.
    var namespace: String
    var local: String

    /// RFC 4287.
    static func atom(_ local: String) -> XMLName { XMLName(namespace: Namespace.atom, local: local) }
    /// The hub's descriptions.
    static func hub(_ local: String) -> XMLName { XMLName(namespace: Namespace.hub, local: local) }
    /// XML Schema's attributes `nil` and `type`.
    static func instance(_ local: String) -> XMLName { XMLName(namespace: Namespace.instance, local: local) }
    static func metadata(_ local: String) -> XMLName { XMLName(namespace: Namespace.metadata, local: local) }
    static func plain(_ local: String) -> XMLName { XMLName(namespace: "", local: local) }
}

/// The namespaces of the hub's documents. Some pages of the documentation print them with `https`; the service does not.
package enum Namespace {
    /// RFC 4287.
    package static let atom = "http://www.w3.org/2005/Atom"
    /// The hub's own elements.
    package static let hub = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    /// The attributes `nil` and `type`.
    package static let instance = "http://www.w3.org/2001/XMLSchema-instance"
    /// The attribute `etag` of an entry.
    package static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
}
