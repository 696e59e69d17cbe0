// SPDX-License-Identifier: Apache-2.0
internal import Text

/// A device as the hub knows it: its handle, its tags and, perhaps, its template.
package struct RegistrationDescription: Equatable, Sendable {
    /// Tags of a registration, written out with commas; the hub's own limit, in UTF-16 code units.
    package static let maximumTagsLength = 8000

    /// Given by the hub; nil in one that was never stored.
    package var id: RegistrationID?
    /// Counts the writes, as decimal text: `2`. Given by the hub.
    package var etag: String?
    /// As the hub writes it, `9999-12-31T23:59:59.999` for never; the digits and the final `Z` vary. Given by the hub.
    package var expirationTime: String?
    package var tags: [Tag]
    /// Tags that the hub reports although no client may set them: it marks an installation's template with the
    /// template's name, whatever that is (`Template Name`). No expression can address them. Always written last.
    package var unaddressableTags: [String]
    /// A JSON object as text; values for the template.
    package var pushVariables: String?
    package var handle: DeviceHandle
    /// Windows and Windows Phone only.
    package var secondaryTileName: String?
    /// Nil for a native registration.
    package var template: Template?

    package init(
        id: RegistrationID? = nil, etag: String? = nil, expirationTime: String? = nil, tags: [Tag] = [],
        unaddressableTags: [String] = [], pushVariables: String? = nil, handle: DeviceHandle,
        secondaryTileName: String? = nil, template: Template? = nil
    ) {
        self.id = id
        self.etag = etag
        self.expirationTime = expirationTime
        self.tags = tags
        self.unaddressableTags = unaddressableTags
        self.pushVariables = pushVariables
        self.handle = handle
        self.secondaryTileName = secondaryTileName
        self.template = template
    }

    package var platform: Platform { handle.platform }

    /// Whether all tags are such as clients may set.
    package var hasClientTagsOnly: Bool { unaddressableTags.isEmpty && !tags.contains(where: \.isSystem) }

    /// Whether it has that tag.
    package func bears(_ tag: Tag) -> Bool { tags.contains(tag) }

    /// What is in the element `Tags`; empty for none.
    package var tagList: String { (tags.map(\.description) + unaddressableTags).joined(separator: ",") }
}

/// The hub's name for a registration: `7260336227650468927-4200236381151834034-1`.
///
/// The hub makes two numbers of 63 bits and a partition; other forms that clients chose were taken too.
package struct RegistrationID: Hashable, Sendable, CustomStringConvertible {
    /// In characters.
    package static let maximumLength = 128

    /// As it is in a path; it needs no percent-encoding.
    package let description: String

    /// Nil for anything but 1 ... 128 letters (ASCII), digits, `-` and `_`.
    package init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count),
            text.utf8.allSatisfy(ASCII.isURLSafe)
        else { return nil }
        description = text
    }

    init(unchecked text: String) {
        description = text
    }

    /// A new one, in the form of the hub's.
    package static func random() -> RegistrationID {
        RegistrationID(unchecked: "\(Int64.random(in: 1 ... .max))-\(Int64.random(in: 1 ... .max))-1")
    }
}

/// How a device wants its notifications made from the properties of a template send.
package struct Template: Hashable, Sendable {
    /// JSON or XML with expressions such as `$(message)`.
    package var body: String
    /// Tells the templates of one installation apart.
    package var name: String?
    /// An expression or a date; Apple only.
    package var expiry: String?
    /// An expression or a number; Apple only.
    package var priority: String?
    /// Sent with the notification; Apple, Windows and Windows Phone only. Windows needs `X-WNS-Type`.
    package var headers: [PushHeader]

    package init(
        body: String, name: String? = nil, expiry: String? = nil, priority: String? = nil, headers: [PushHeader] = []
    ) {
        self.body = body
        self.name = name
        self.expiry = expiry
        self.priority = priority
        self.headers = headers
    }
}
