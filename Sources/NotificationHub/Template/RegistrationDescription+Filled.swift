// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text
import XML

/// Why a device's template makes no notification of a send. It never repeats either.
package enum TemplateFault: Error, Equatable {
    /// Says which part.
    case unreadable(String)
    /// The notification would be far larger than its service takes.
    case tooLarge
}

extension RegistrationDescription {
    /// The device's own notification of a template send: its template, filled in with the properties of the send and with the
    /// device's push variables, of which those of the send win.
    ///
    /// Filled in are the texts of a JSON body, or attributes and texts of an XML body, and the values of headers; never a name,
    /// and no text beside elements.
    /// - Throws: `TemplateFault`: `unreadable`, also for a registration without a template; `tooLarge`, when the texts alone would be
    ///   more than four times `Platform.maximumPayload`. What a service takes exactly, its driver knows.
    package func filled(_ notification: HubNotification) throws(TemplateFault) -> HubNotification {
        guard let template else { throw .unreadable("the registration, which has no template") }
        var properties: [String: String] = [:]
        if let variables = pushVariables?.utf8, !variables.allSatisfy(ASCII.isBlank) {
            properties = try TemplateFiller.properties(Array(variables), of: "the push variables")
        }
        let sent = try TemplateFiller.properties(notification.bodyWithoutMark, of: "the properties")
        properties.merge(sent) { $1 }
        var filler = TemplateFiller(properties: properties, room: 4 * platform.maximumPayload)
        let isXML = template.isXML
        let body = isXML ? try filler.xml(template.body) : try filler.json(template.body)
        return HubNotification(
            format: .native(platform), body: body,
            contentType: isXML ? "application/xml" : "application/json;charset=utf-8",
            headers: try headers(of: template, &filler))
    }

    /// A header whose value is empty, as of a property that the send does not have, is left out. A priority and an expiry, which only
    /// registrations of Apple's have, are headers of theirs.
    private func headers(of template: Template, _ filler: inout TemplateFiller) throws(TemplateFault) -> [PushHeader] {
        var headers: [PushHeader] = []
        for header in template.headers { headers.append(PushHeader(header.name, try filler.text(header.value))) }
        for (name, template) in [("apns-priority", template.priority), ("apns-expiration", template.expiry)] {
            guard let template, case let text = try filler.text(template), !text.isEmpty else { continue }
            headers.removeAll { ASCII.equalIgnoringCase($0.name, name) }
            headers.append(PushHeader(name, HubTime.expiry(text).map { String($0) } ?? text))
        }
        return headers.filter { !$0.value.isEmpty }
    }
}

extension HubNotification {
    /// The byte order mark of UTF-8, which some editors write before a text.
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    fileprivate var bodyWithoutMark: [UInt8] {
        body.starts(with: Self.mark) ? Array(body.dropFirst(Self.mark.count)) : body
    }
}

/// Fills in one template, and stops where that would be too large.
private struct TemplateFiller {
    /// By their names in lower case.
    let properties: [String: String]
    /// Bytes of text that there may still be.
    var room: Int

    /// - Parameter json: a flat object; what is no text in it is no property.
    static func properties(_ json: [UInt8], of part: String) throws(TemplateFault) -> [String: String] {
        guard let members = (try? JSONValue(parsing: json))?.members else { throw .unreadable(part) }
        var properties: [String: String] = [:]
        for member in members {
            switch member.value {
            case .string(let text), .number(let text): properties[member.name.lowercased()] = text
            default: continue
            }
        }
        return properties
    }

    mutating func text(_ template: String) throws(TemplateFault) -> String {
        try TemplateExpression.registered(template).text(properties, room: &room)
    }

    mutating func json(_ body: String) throws(TemplateFault) -> [UInt8] {
        guard let json = try? JSONValue(parsing: Array(body.utf8)) else { throw .unreadable("the template's body") }
        return JSONWriter(try filled(json)).bytes
    }

    private mutating func filled(_ json: JSONValue) throws(TemplateFault) -> JSONValue {
        switch json {
        case .string(let text):
            return try TemplateExpression.registered(text).json(properties, room: &room)
        case .array(let elements):
            var filled: [JSONValue] = []
            for element in elements { filled.append(try self.filled(element)) }
            return .array(filled)
        case .object(let members):
            var filled: [JSONValue.Member] = []
            for member in members { filled.append(JSONValue.Member(member.name, try self.filled(member.value))) }
            return .object(filled)
        case .null, .bool, .number: return json
        }
    }

    mutating func xml(_ body: String) throws(TemplateFault) -> [UInt8] {
        guard let root = try? XMLDocument.parse(Array(body.utf8)) else { throw .unreadable("the template's body") }
        return try filled(root).bytes
    }

    private mutating func filled(_ element: XMLElement) throws(TemplateFault) -> XMLElement {
        var filled = element
        for (name, value) in element.attributes { filled.attributes[name] = try text(value) }
        if element.children.isEmpty { filled.text = try text(element.text) }
        filled.children = []
        for child in element.children { filled.children.append(try self.filled(child)) }
        return filled
    }
}
