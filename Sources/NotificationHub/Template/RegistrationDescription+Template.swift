// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text
import XML

extension RegistrationDescription {
    /// The longest name of a template, in UTF-16 code units.
    private static let maximumTemplateName = 200

    /// What every hub refuses of a registration.
    /// - Throws: `ServableHubError.invalid`.
    package func checkForHub() throws(ServableHubError) {
        guard tagList.utf16.count <= Self.maximumTagsLength else { throw .tooManyTags }
        if template?.body.isEmpty == true { throw .missingTemplate }
        do throws(TemplateError) {
            try checkTemplate()
        } catch {
            throw .invalid("The template is invalid: \(error).")
        }
    }

    /// Whether a send can fill in the template, for the device to hear of it when it registers and not at each send.
    /// - Throws: `TemplateError`.
    package func checkTemplate() throws(TemplateError) {
        if let variables = pushVariables?.utf8, !variables.allSatisfy(ASCII.isBlank) {
            guard (try? JSONValue(parsing: Array(variables)))?.members != nil else {
                throw TemplateError(.variables, .variables)
            }
        }
        guard let template else { return }
        guard template.name?.utf16.count ?? 0 <= Self.maximumTemplateName else {
            throw TemplateError(.name, .nameLength)
        }
        try template.isXML ? checkXML(template) : template.checkJSON()
        try checkHeaders(template)
        if let expiry = template.expiry { try Self.check(expiry, .expiry, .expiry, TemplateText.isTime) }
        if let priority = template.priority { try Self.check(priority, .priority, .number, TemplateText.isNumber) }
    }

    private func checkHeaders(_ template: Template) throws(TemplateError) {
        for header in template.headers { try check(header) }
        if let needed = platform.traits.neededHeader, template.header(needed) == nil {
            throw TemplateError(.header, reason: "the template needs the header \(needed)")
        }
    }

    private func check(_ header: PushHeader) throws(TemplateError) {
        guard !header.name.isEmpty, !header.value.isEmpty else { throw TemplateError(.header, .emptyHeader) }
        let name = header.name.lowercased()
        guard platform != .apns || name.hasPrefix("apns-") else { throw TemplateError(.header, .appleHeader) }
        if platform == .apns, ["apns-expiration", "apns-priority"].contains(name) {
            try Self.check(header.value, .header, .number, TemplateText.isNumber)
        } else {
            try Self.check(header.value, .header, .sign) { _ in true }
        }
    }

    /// - Parameter isRight: whether a text that is no expression has the form of the part.
    private static func check(
        _ text: String, _ part: TemplateError.Part, _ rule: TemplateRule, _ isRight: (String) -> Bool
    ) throws(TemplateError) {
        let expression: TemplateExpression
        do throws(TemplateFlaw) {
            expression = try TemplateExpression(checking: text)
        } catch {
            throw TemplateError(part, error.rule, at: error.offset)
        }
        guard let literal = expression.literal, !literal.isEmpty else { return }
        guard isRight(literal) else { throw TemplateError(part, rule) }
    }

    private func checkXML(_ template: Template) throws(TemplateError) {
        let bytes = Array(template.body.utf8)
        let root: XMLElement
        do throws(XMLError) {
            root = try XMLDocument.parse(bytes)
        } catch {
            if case .notWellFormed(let offset) = error { throw TemplateError(.body, .xml, at: offset) }
            throw TemplateError(.body, .xml)
        }
        if platform == .wns, !["toast", "tile", "badge"].contains(root.name.local), template.namesNotification {
            throw TemplateError(.body, .root)
        }
        try template.check(root)
    }
}

extension Template {
    /// Whether the body is XML; else it is JSON.
    var isXML: Bool { body.utf8.first { !ASCII.isBlank($0) } == UInt8(ascii: "<") }

    fileprivate func header(_ name: String) -> String? {
        headers.first { ASCII.equalIgnoringCase($0.name, name) }?.value
    }

    /// Whether its type is one of those that Windows shows, and known before a send.
    fileprivate var namesNotification: Bool {
        let type = header("X-WNS-Type")?.lowercased() ?? ""
        return ["wns/toast", "wns/tile", "wns/badge"].contains(type)
    }

    fileprivate func checkJSON() throws(TemplateError) {
        let json: JSONValue
        do throws(JSONSyntaxError) {
            json = try JSONValue(parsing: Array(body.utf8))
        } catch {
            let isJSON = "{[\"".utf8.contains(body.utf8.first { !ASCII.isBlank($0) } ?? 0)
            throw TemplateError(.body, reason: isJSON ? error.reason : TemplateRule.language.rawValue, at: error.offset)
        }
        try check(json)
    }

    private func check(_ json: JSONValue) throws(TemplateError) {
        switch json {
        case .string(let text): try check(text, between: [("\"", "\"")])
        case .array(let elements): for element in elements { try check(element) }
        case .object(let members): for member in members { try check(member.value) }
        case .null, .bool, .number: break
        }
    }

    fileprivate func check(_ element: XMLElement) throws(TemplateError) {
        for value in element.attributes.values.sorted() { try check(value, between: [("\"", "\""), ("'", "'")]) }
        if element.children.isEmpty { try check(element.text, between: [(">", "<"), ("[", "]")]) }
        for child in element.children { try check(child) }
    }

    /// The byte that an error names is one of the body, if the text is there as it is; else one of the text.
    private func check(_ text: String, between marks: [(String, String)]) throws(TemplateError) {
        do throws(TemplateFlaw) {
            _ = try TemplateExpression(checking: text)
        } catch {
            let places = marks.lazy.compactMap { self.offset(of: $0.0 + text + $0.1) }
            throw TemplateError(.body, error.rule, at: error.offset + (places.first.map { $0 + 1 } ?? 0))
        }
    }

    /// A text longer than this is not looked for, in bytes.
    private static let maximumSoughtText = 1_000

    private func offset(of text: String) -> Int? {
        let (whole, part) = (Array(body.utf8), Array(text.utf8))
        guard whole.count >= part.count, part.count <= Self.maximumSoughtText else { return nil }
        return (0...(whole.count - part.count)).first { whole[$0...].starts(with: part) }
    }
}

/// The values of a template that are not for people.
private enum TemplateText {
    static func isTime(_ text: String) -> Bool { isNumber(text) || HubTime.expiry(text) != nil }

    static func isNumber(_ text: String) -> Bool { text.utf8.allSatisfy(ASCII.isDigit) }
}

extension TemplateExpression {
    /// As `init`, and refuses a text that is no expression although it begins with a sign of one.
    fileprivate init(checking text: String) throws(TemplateFlaw) {
        try self.init(text)
        if let first = literal?.utf8.first, "$#".utf8.contains(first) { throw TemplateFlaw(.sign, offset: 0) }
    }
}
