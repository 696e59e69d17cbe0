// SPDX-License-Identifier: Apache-2.0
import XML

/// A registration in its envelope, an entry of Atom (RFC 4287), as the hub answers it.
package struct AtomEntry: Equatable, Sendable {
    /// The URL of the registration with the query of the request that asked for it.
    package var link: String
    /// The time of the answer, `2018-11-07T00:18:29Z`.
    package var updated: String
    package var registration: RegistrationDescription

    package init(link: String, updated: String, registration: RegistrationDescription) {
        self.link = link
        self.updated = updated
        self.registration = registration
    }

    /// Reads a hub's answer.
    /// - Throws: `AtomError`.
    package init(decoding bytes: [UInt8]) throws(AtomError) {
        try self.init(try AtomError.root(of: bytes))
    }

    init(_ element: XMLElement) throws(AtomError) {
        registration = try Self.description(in: element)
        link = element.child(.atom("id"))?.text ?? ""
        updated = element.child(.atom("updated"))?.text ?? ""
        // Newer servers have the ETag in the description only, older ones in the envelope too.
        if registration.etag == nil { registration.etag = element.attributes[.metadata("etag")].map(Self.bareETag) }
    }

    /// The bytes of a hub's answer.
    package func encode() -> [UInt8] {
        var xml = XMLWriter()
        write(to: &xml, isRoot: true)
        return xml.bytes
    }

    /// Reads what a client sends to the hub.
    /// - Throws: `AtomError`; also for what a hub may answer but a client may not ask: tags that are not legal or the
    ///   system's, and a time of expiry.
    package static func decodeRequest(_ bytes: [UInt8]) throws(AtomError) -> RegistrationDescription {
        let description = try description(in: try AtomError.root(of: bytes))
        guard description.hasClientTagsOnly else { throw .badTag }
        guard description.expirationTime == nil else { throw .expirationGiven }
        return description
    }

    /// What a client sends to the hub: without id, ETag and expiry, which are the hub's.
    package static func encodeRequest(_ description: RegistrationDescription) -> [UInt8] {
        var xml = XMLWriter()
        xml.element("entry", attributes: ["xmlns": Namespace.atom]) { xml in
            xml.element("content", attributes: ["type": "application/xml"]) { description.write(to: &$0, .toHub) }
        }
        return xml.bytes
    }

    private static func description(in entry: XMLElement) throws(AtomError) -> RegistrationDescription {
        guard entry.name == .atom("entry"), let content = entry.child(.atom("content")), content.children.count == 1,
            let element = content.children.first
        else { throw .unexpectedElement }
        return try DescriptionReader(element).description()
    }

    /// `W/"2"` and `"2"` mean `2`.
    private static func bareETag(_ text: String) -> String {
        let bare = text.hasPrefix("W/") ? text.dropFirst(2) : Substring(text)
        return String(bare.filter { $0 != "\"" })
    }

    func write(to xml: inout XMLWriter, isRoot: Bool) {
        let etag = "W/\"\(registration.etag ?? "")\""
        let attributes: KeyValuePairs<String, String> =
            isRoot
            ? ["a:etag": etag, "xmlns": Namespace.atom, "xmlns:a": Namespace.metadata]
            : ["a:etag": etag, "xmlns:a": Namespace.metadata]
        xml.element("entry", attributes: attributes) { xml in
            xml.element("id", link)
            xml.element("title", registration.id?.description ?? "", attributes: ["type": "text"])
            xml.element("published", updated)
            xml.element("updated", updated)
            xml.emptyElement("link", attributes: ["rel": "self", "href": link])
            xml.element("content", attributes: ["type": "application/xml"]) { registration.write(to: &$0, .toClient) }
        }
    }
}

/// Why a document of the hub's language was not understood. It never repeats the document.
package enum AtomError: Error, Equatable, Sendable {
    /// Not XML, or more XML than a description has, or with a document type.
    case notXML
    /// The root is not what was asked for, or a part of the envelope is missing.
    case unexpectedElement
    /// A registration of a type that is not known here.
    case unknownType
    case repeatedElement
    case badRegistrationID
    case badHandle(HandleError)
    /// A request brings a tag that no client may set.
    case badTag
    /// More text in `Tags` than `RegistrationDescription.maximumTagsLength`.
    case tooManyTags
    case missingTemplate
    case badHeader
    /// A request says when it expires; the hub alone does.
    case expirationGiven
    /// A count is not a number.
    case badNumber

    /// Reads a document, or throws that it is not one.
    static func root(of bytes: [UInt8]) throws(AtomError) -> XMLElement {
        do throws(XMLError) {
            return try XMLDocument.parse(bytes)
        } catch {
            throw .notXML
        }
    }
}
