// SPDX-License-Identifier: Apache-2.0
import XML

/// A page of registrations, a feed of Atom (RFC 4287), as the hub answers it.
package struct AtomFeed: Equatable, Sendable {
    /// The URL of the request.
    package var link: String
    /// The URL of the next page. Clients follow the field `x-ms-continuationtoken`; the hub writes both.
    package var next: String?
    /// The time of the answer, `2018-11-07T00:18:29Z`.
    package var updated: String
    package var entries: [AtomEntry]
    /// How many entries were passed over because their type or handle is not known here. A list is useful without
    /// them; with an error in their place, one strange device would hide all others.
    package var unreadable: Int

    package init(
        link: String, next: String? = nil, updated: String, entries: [AtomEntry] = [], unreadable: Int = 0
    ) {
        self.link = link
        self.next = next
        self.updated = updated
        self.entries = entries
        self.unreadable = unreadable
    }

    /// Reads a hub's answer.
    /// - Throws: `AtomError`, when it is not a feed; a single entry that is not understood is counted instead.
    package init(decoding bytes: [UInt8]) throws(AtomError) {
        let root = try AtomError.root(of: bytes)
        guard root.name == .atom("feed") else { throw .unexpectedElement }
        self.init(
            link: root.child(.atom("id"))?.text ?? "", next: Self.link("next", in: root),
            updated: root.child(.atom("updated"))?.text ?? "")
        for element in root.children where element.name == .atom("entry") {
            do throws(AtomError) {
                entries.append(try AtomEntry(element))
            } catch {
                unreadable += 1
            }
        }
    }

    /// The bytes of a hub's answer.
    package func encode() -> [UInt8] {
        var xml = XMLWriter()
        xml.element("feed", attributes: ["xmlns": Namespace.atom]) { xml in
            xml.element("title", "Registrations", attributes: ["type": "text"])
            xml.element("id", link)
            xml.element("updated", updated)
            xml.emptyElement("link", attributes: ["rel": "self", "href": link])
            if let next { xml.emptyElement("link", attributes: ["rel": "next", "href": next]) }
            for entry in entries { entry.write(to: &xml, isRoot: false) }
        }
        return xml.bytes
    }

    private static func link(_ relation: String, in feed: XMLElement) -> String? {
        feed.children.first { $0.name == .atom("link") && $0.attributes[.plain("rel")] == relation }?
            .attributes[.plain("href")]
    }
}
