// SPDX-License-Identifier: Apache-2.0
package import JSON
internal import Text

extension Installation {
    /// - Parameter id: the one of the path.
    /// - Throws: `ServableHubError.invalid`.
    package init(decoding bytes: [UInt8], id: String) throws(ServableHubError) {
        guard let json = try? JSONValue(parsing: bytes) else { throw .installation("it must be a JSON object") }
        try self.init(json, id: id)
    }

    /// The bytes of a hub's answer.
    package func encode() -> [UInt8] { JSONWriter(json).bytes }

    /// - Parameters:
    ///   - json: as a client writes it. Members that only the hub gives, and unknown ones, are passed over.
    ///   - id: the one of the path.
    /// - Throws: `ServableHubError.invalid`.
    package init(_ json: JSONValue, id: String) throws(ServableHubError) {
        guard json.members != nil else { throw .installation("it must be a JSON object") }
        guard (try? Tag(system: "$InstallationId:{\(id)}")) != nil else {
            throw .installation("its id has letters, digits and -_@#.:=")
        }
        if let own = try json.text("installationId"), own.lowercased() != id.lowercased() {
            throw .installation("installationId is not the one of the path")
        }
        guard let name = try json.text("platform"), let platform = Platform(installation: name) else {
            throw .installation("platform must be apns, fcmV1, gcm, wns, mpns, adm, baidu or browser")
        }
        (self.id, platformName) = (id, name)
        main = try Part(json, platform)
        userID = try json.text("userId").flatMap { $0.isEmpty ? nil : $0 }
        if let userID, (try? Tag(system: "$UserId:{\(userID)}")) == nil {
            throw .installation("userId has letters, digits and -_@#.:=")
        }
        expiresAt = try json.text("expirationTime").map { text throws(ServableHubError) in
            guard let time = HubTime.expiry(text) else { throw .installation("expirationTime must be a time") }
            return time
        }
        if let time = expiresAt, time >= Self.endOfTime { expiresAt = nil }
        let variables = try json.map("pushVariables")
        if variables.contains(where: { $0.value.string == nil }) { throw .installation("pushVariables must be texts") }
        if !variables.isEmpty { pushVariables = .object(variables) }
        for tile in try json.map("secondaryTiles") {
            guard platform.traits.hasTiles else { throw .installation("secondaryTiles are of Windows only") }
            tiles.append(Tile(name: tile.name, part: try Part(tile.value, platform)))
        }
        try check()
    }

    /// A second before the year 10000, which stands for never.
    private static let endOfTime: Int64 = 253_402_300_799

    /// The same rules as for single registrations.
    private func check() throws(ServableHubError) {
        for registration in registrations { try registration.description.checkForHub() }
    }

    /// As the hub answers and keeps it, in the order of Azure's members.
    package var json: JSONValue {
        var members = JSONMembers()
        members.add("installationId", id)
        members.add("pushChannel", main.channel)
        members.add("pushChannelExpired", .bool(false))
        members.add("platform", platformName)
        members.add("expirationTime", expiresAt.map { HubTime($0).iso8601 } ?? "9999-12-31T23:59:59.9999999Z")
        members.add("tags", main.tags)
        members.add("pushVariables", pushVariables)
        members.add("templates", main.templates.map { JSONValue.Member($0.name, $0.json) })
        members.add(
            "secondaryTiles",
            tiles.map { tile in
                var members = JSONMembers()
                members.add("pushChannel", tile.part.channel)
                members.add("pushChannelExpired", .bool(false))
                members.add("tags", tile.part.tags)
                members.add("templates", tile.part.templates.map { JSONValue.Member($0.name, $0.json) })
                return JSONValue.Member(tile.name, members.object)
            })
        members.add("userId", userID)
        return members.object
    }
}

extension Installation.Part {
    fileprivate init(_ json: JSONValue, _ platform: Platform) throws(ServableHubError) {
        guard let channel = json.given("pushChannel") else { throw .installation("pushChannel is missing") }
        do throws(HandleError) {
            handle = try DeviceHandle(installation: channel, platform)
        } catch {
            throw .installation("pushChannel is wrong: \(error)")
        }
        self.channel = platform == .browser ? channel : .string(handle.channel)
        tags = try json.tags("tags")
        for template in try json.map("templates") {
            templates.append(try Installation.NamedTemplate(template.name, template.value, platform))
        }
    }
}

extension Installation.NamedTemplate {
    fileprivate init(_ name: String, _ json: JSONValue, _ platform: Platform) throws(ServableHubError) {
        guard let body = try json.text("body"), !body.isEmpty else { throw .installation("a template needs a body") }
        (self.name, self.body) = (name, body)
        for header in try json.map("headers") {
            guard platform.traits.headerElement != nil else {
                throw .installation("headers are of Apple and Windows only")
            }
            guard let value = header.value.string else { throw .installation("headers must be texts") }
            headers.append(PushHeader(header.name, value))
        }
        expiry = try json.text("expiry").flatMap { $0.isEmpty ? nil : $0 }
        tags = try json.tags("tags", except: name)
    }

    fileprivate var json: JSONValue {
        var members = JSONMembers()
        members.add("body", body)
        members.add("headers", headers.map { JSONValue.Member($0.name, .string($0.value)) })
        members.add("expiry", expiry)
        let names = tags.map { JSONValue.string($0.description) }
        members.add("tags", .array(names + [.string(name)]))
        return members.object
    }
}

extension DeviceHandle {
    /// Of a browser: an object, or its JSON as a text. Of Baidu: `user-channel`.
    fileprivate init(installation channel: JSONValue, _ platform: Platform) throws(HandleError) {
        switch platform {
        case .browser:
            let parsed = channel.string.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? channel
            self = try DeviceHandle(
                platform,
                HandleParts(
                    parsed["endpoint"]?.string ?? "", p256dh: parsed["p256dh"]?.string ?? "",
                    auth: parsed["auth"]?.string ?? ""))
        case .baidu:
            let halves = (channel.string ?? "").utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1)
            guard halves.count == 2, let user = halves.first, let id = halves.last else { throw .empty }
            self = try DeviceHandle(
                platform, HandleParts(String(Substring(id)), baiduUser: String(Substring(user))))
        default: self = try DeviceHandle(platform, channel.string ?? "")
        }
    }
}

extension Platform {
    /// What an installation calls the platform, in any case.
    fileprivate init?(installation name: String) {
        switch name.lowercased() {
        case "fcmv1": self = .fcm
        case let other:
            guard other != Platform.fcm.rawValue, let platform = Platform(rawValue: other) else { return nil }
            self = platform
        }
    }
}

extension ServableHubError {
    static func installation(_ reason: String) -> ServableHubError {
        .invalid("The installation is invalid: \(reason).")
    }
}

extension JSONValue {
    /// The member; nil if it is `null`, too.
    fileprivate func given(_ name: String) -> JSONValue? { self[name].flatMap { $0.isNull ? nil : $0 } }

    fileprivate func text(_ name: String) throws(ServableHubError) -> String? {
        guard let value = given(name) else { return nil }
        guard let text = value.string else { throw .installation("\(name) must be a text") }
        return text
    }

    /// The members of a member; empty if it is not given.
    fileprivate func map(_ name: String) throws(ServableHubError) -> [Member] {
        guard let value = given(name) else { return [] }
        guard let members = value.members else { throw .installation("\(name) must be an object") }
        return members
    }

    /// - Parameter name: the tag that the hub gives itself.
    fileprivate func tags(_ member: String, except name: String? = nil) throws(ServableHubError) -> [Tag] {
        guard let value = given(member) else { return [] }
        guard let array = value.array else { throw .installation("\(member) must be an array") }
        var tags: [Tag] = []
        for element in array where name == nil || element.string != name {
            guard let text = element.string, let tag = try? Tag(text) else { throw .badTag }
            if !tags.contains(tag) { tags.append(tag) }
        }
        return tags
    }
}

/// Members of an object in their order, without those that have no value.
private struct JSONMembers {
    private var members: [JSONValue.Member] = []

    var object: JSONValue { .object(members) }

    mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(JSONValue.Member(name, value)) }
    }

    mutating func add(_ name: String, _ text: String?) { add(name, text.map(JSONValue.string)) }

    mutating func add(_ name: String, _ tags: [Tag]) {
        if !tags.isEmpty { add(name, .array(tags.map { .string($0.description) })) }
    }

    mutating func add(_ name: String, _ object: [JSONValue.Member]) {
        if !object.isEmpty { add(name, .object(object)) }
    }
}
