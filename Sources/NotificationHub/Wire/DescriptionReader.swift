// SPDX-License-Identifier: Apache-2.0
internal import Text
import XML

/// Reads the element that describes a registration, in either of its two forms:
/// `<AppleRegistrationDescription>` or `<RegistrationDescription i:type="AppleRegistrationDescription">`.
///
/// Members may be in any order, `i:nil` is the same as absent, and elements that are not known here are passed over,
/// as Atom asks of readers (RFC 4287 section 6.3). A member that is there twice is refused: two readers could believe
/// different ones.
struct DescriptionReader {
    private let members: [String: XMLElement]
    private let platform: Platform
    private let isTemplate: Bool

    /// - Throws: `AtomError`, as `description` does.
    init(_ element: XMLElement) throws(AtomError) {
        guard element.name.namespace == Namespace.hub else { throw .unexpectedElement }
        var type = element.name.local
        if type == "RegistrationDescription" {
            guard let named = element.attributes[.instance("type")] else { throw .unknownType }
            // The value may carry a prefix of its own.
            type = named.utf8.split(separator: UInt8(ascii: ":")).last.map { String(Substring($0)) } ?? ""
        }
        guard let (platform, isTemplate) = Self.types[type] else { throw .unknownType }
        self.platform = platform
        self.isTemplate = isTemplate
        var members: [String: XMLElement] = [:]
        for child in element.children where child.name.namespace == Namespace.hub && !child.isNil {
            guard members.updateValue(child, forKey: child.name.local) == nil else { throw .repeatedElement }
        }
        self.members = members
    }

    private static let types: [String: (platform: Platform, isTemplate: Bool)] = Dictionary(
        uniqueKeysWithValues: Platform.allCases.flatMap { platform in
            [false, true].map { (platform.descriptionElement(isTemplate: $0), (platform, $0)) }
        })

    func description() throws(AtomError) -> RegistrationDescription {
        var description = RegistrationDescription(handle: try handle())
        if let id = trimmed("RegistrationId") {
            guard let id = RegistrationID(id) else { throw .badRegistrationID }
            description.id = id
        }
        description.etag = trimmed("ETag")
        description.expirationTime = trimmed("ExpirationTime")
        (description.tags, description.unaddressableTags) = try tags()
        description.pushVariables = text("PushVariables")
        if platform.traits.hasTiles { description.secondaryTileName = text("SecondaryTileName") }
        if isTemplate { description.template = try template() }
        return description
    }

    private func tags() throws(AtomError) -> ([Tag], [String]) {
        let list = text("Tags") ?? ""
        guard list.utf16.count <= RegistrationDescription.maximumTagsLength else { throw .tooManyTags }
        var tags: [Tag] = []
        var others: [String] = []
        for part in list.unicodeScalars.split(separator: ",") {
            let text = trim(String(Substring(part)))
            guard !text.isEmpty else { continue }
            if let tag = (try? Tag(text)) ?? (try? Tag(system: text)) {
                tags.append(tag)
            } else {
                others.append(text)
            }
        }
        return (tags, others)
    }

    private func handle() throws(AtomError) -> DeviceHandle {
        do throws(HandleError) {
            return try DeviceHandle(
                platform,
                HandleParts(
                    trimmed(platform.traits.handleElement) ?? "", baiduUser: trimmed("BaiduUserId"),
                    p256dh: trimmed("P256DH"), auth: trimmed("Auth")))
        } catch {
            throw .badHandle(error)
        }
    }

    private func template() throws(AtomError) -> Template {
        guard let body = text("BodyTemplate"), !body.isEmpty else { throw .missingTemplate }
        var template = Template(body: body, name: text("TemplateName"))
        if platform.traits.templatesExpire {
            template.expiry = text("Expiry")
            template.priority = text("Priority")
        }
        guard let element = platform.traits.headerElement, let list = members[element + "s"] else { return template }
        for item in list.children where item.name == .hub(element) {
            guard let name = item.child(.hub("Header"))?.text, let value = item.child(.hub("Value"))?.text else {
                throw .badHeader
            }
            template.headers.append(PushHeader(trim(name), trim(value)))
        }
        return template
    }

    private func text(_ name: String) -> String? { members[name]?.text }

    /// Some clients print requests prettily, with line breaks around the values.
    private func trimmed(_ name: String) -> String? { text(name).map(trim) }

    private func trim(_ text: String) -> String {
        var bytes = Substring(text).utf8
        while let first = bytes.first, ASCII.isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, ASCII.isBlank(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
