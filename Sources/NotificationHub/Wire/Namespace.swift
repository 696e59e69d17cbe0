// SPDX-License-Identifier: Apache-2.0
import XML

extension XMLName {
    /// RFC 4287.
    static func atom(_ local: String) -> XMLName { XMLName(namespace: Namespace.atom, local: local) }
    /// The hub's descriptions.
    static func hub(_ local: String) -> XMLName { XMLName(namespace: Namespace.hub, local: local) }
    static func metadata(_ local: String) -> XMLName { XMLName(namespace: Namespace.metadata, local: local) }
}

/// The namespaces of the hub's documents. Some pages of the documentation print them with `https`; the service does not.
package enum Namespace {
    /// RFC 4287.
    package static let atom = "http://www.w3.org/2005/Atom"
    /// The hub's own elements.
    package static let hub = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    /// The attributes `nil` and `type`.
    package static let instance = XMLName.instanceNamespace
    /// The attribute `etag` of an entry.
    package static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
}
