// SPDX-License-Identifier: Apache-2.0
import JSON
import NotificationHub
import Store
import Text

/// A registration as the store keeps it: the description in JSON, beside it what it is found by.
extension HubRegistration {
    /// - Parameter version: the version that it replaces; 0 for none.
    init(
        _ description: RegistrationDescription, id: RegistrationID, in namespace: HubNamespace = .backend, version: Int,
        now: Int64
    ) {
        var tags: [String] = []
        for tag in description.tags where !tags.contains(where: { $0.hasSameBytes(as: tag.folded) }) {
            tags.append(tag.folded)
        }
        self.init(
            id: namespace.stored(id.description), channel: namespace.stored(description.handle.channel),
            tags: tags.map(namespace.stored), description: Self.json(description),
            updatedAt: Timestamp(seconds: now), version: version)
    }

    /// Azure's registrations never expire unless the hub has a time to live, and so these; in the digits of the older
    /// generation, which writes a `Z` when it reads and none when it has just written.
    private static let never = "9999-12-31T23:59:59.999"

    /// What a client gets.
    /// - Throws: `StoreError.damaged`, when the record is not what this hub writes.
    func answer(isRead: Bool) throws(StoreError) -> RegistrationDescription {
        answer(try decoded(), isRead: isRead)
    }

    /// What a client gets of a record that was decoded before.
    func answer(_ decoded: RegistrationDescription, isRead: Bool) -> RegistrationDescription {
        var registration = decoded
        registration.id = RegistrationID(plainID)
        registration.etag = String(version)
        registration.expirationTime = Self.never + (isRead ? "Z" : "")
        return registration
    }

    /// Nil when the record is not what this hub writes.
    var platform: Platform? { description["platform"]?.string.flatMap(Platform.init(rawValue:)) }

    /// As `RegistrationDescription.app`.
    var app: String? { tags.lazy.compactMap { (try? Tag(namespace.plain($0)))?.app }.first }

    /// - Throws: `StoreError.damaged`.
    func decoded() throws(StoreError) -> RegistrationDescription {
        guard let handle else { throw damaged("handle") }
        var registration = RegistrationDescription(handle: handle)
        for text in description["tags"]?.array ?? [] {
            guard let tag = text.string.flatMap({ try? Tag($0) }) else { throw damaged("tags") }
            registration.tags.append(tag)
        }
        registration.pushVariables = description["pushVariables"]?.string
        registration.secondaryTileName = description["secondaryTileName"]?.string
        if let template = description["template"] { registration.template = try decoded(template) }
        return registration
    }

    private func decoded(_ json: JSONValue) throws(StoreError) -> Template {
        guard let body = json["body"]?.string else { throw damaged("template") }
        var template = Template(
            body: body, name: json["name"]?.string, expiry: json["expiry"]?.string, priority: json["priority"]?.string)
        for pair in json["headers"]?.array ?? [] {
            guard let texts = pair.array, texts.count == 2, let name = texts.first?.string,
                let value = texts.last?.string
            else { throw damaged("headers") }
            template.headers.append(PushHeader(name, value))
        }
        return template
    }

    private func damaged(_ member: String) -> StoreError { .damaged(detail: "hub registration \(id): \(member)") }

    static func json(_ description: RegistrationDescription) -> JSONValue {
        var members: [JSONValue.Member] = [JSONValue.Member("platform", .string(description.platform.rawValue))]
        func add(_ name: String, _ text: String?) {
            if let text { members.append(JSONValue.Member(name, .string(text))) }
        }
        let handle = description.handle.parts
        add("handle", handle.text)
        add("baiduUser", handle.baiduUser)
        add("p256dh", handle.p256dh)
        add("auth", handle.auth)
        if !description.tags.isEmpty {
            members.append(JSONValue.Member("tags", .array(description.tags.map { .string($0.description) })))
        }
        add("pushVariables", description.pushVariables)
        add("secondaryTileName", description.secondaryTileName)
        if let template = description.template { members.append(JSONValue.Member("template", json(template))) }
        return .object(members)
    }

    private static func json(_ template: Template) -> JSONValue {
        var members = [JSONValue.Member("body", .string(template.body))]
        for (name, text) in [("name", template.name), ("expiry", template.expiry), ("priority", template.priority)] {
            if let text { members.append(JSONValue.Member(name, .string(text))) }
        }
        if !template.headers.isEmpty {
            // Pairs, because a header may come twice and a JSON object's member may not.
            let headers = template.headers.map { JSONValue.array([.string($0.name), .string($0.value)]) }
            members.append(JSONValue.Member("headers", .array(headers)))
        }
        return .object(members)
    }

    private var handle: DeviceHandle? {
        guard let platform, let text = description["handle"]?.string else { return nil }
        let parts = HandleParts(
            text, baiduUser: description["baiduUser"]?.string, p256dh: description["p256dh"]?.string,
            auth: description["auth"]?.string)
        return try? DeviceHandle(platform, parts)
    }
}
