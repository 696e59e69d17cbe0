// SPDX-License-Identifier: Apache-2.0

/// A rule that a template breaks; its raw value is the sentence for people.
package enum TemplateRule: String, Sendable {
    case language = "it must be JSON or XML"
    case xml = "XML must be well-formed, without a document type"
    case root = "the root must be toast, tile or badge, unless X-WNS-Type is wns/raw"
    case sign = "a text that begins with $ or # must be an expression, such as $(name)"
    case name = "a property's name has 1 to 120 letters, digits and _"
    case length = "a length in digits is expected"
    case closingParenthesis = "a closing parenthesis is expected, and only $ and . take a length"
    case closingBrace = "+ or a closing brace is expected"
    case closingQuote = "the text is not closed by its quotation mark"
    case part = "a property or a quoted text is expected"
    case nothingBehind = "nothing may follow an expression; several are joined by + within braces"
    case numberIsWhole = "a number cannot be joined with other parts"
    case fallback = "a default is written as :{text}"
    case variables = "they must be a JSON object"
    case nameLength = "it may have 200 characters"
    case expiry = "it must be a time such as 2030-01-02T13:04:05Z, seconds since 1970, or an expression"
    case number = "it must be a number or an expression"
    case appleHeader = "its name must begin with apns-"
    case emptyHeader = "it needs a name and a value"
}

/// Which rule a text of a template breaks, and where. It never repeats the text.
struct TemplateFlaw: Error, Equatable {
    let rule: TemplateRule
    /// Of the first byte that is wrong; the length of the text when it ends too early.
    let offset: Int

    init(_ rule: TemplateRule, offset: Int) {
        (self.rule, self.offset) = (rule, offset)
    }
}

/// Why a template is refused when a device registers with it. It never repeats the template.
package struct TemplateError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The part of a registration that is wrong; its raw value names it for people.
    package enum Part: String, Sendable {
        case body = "BodyTemplate"
        case variables = "PushVariables"
        case name = "TemplateName"
        case expiry = "Expiry"
        case priority = "Priority"
        case header = "a header"
    }

    package let part: Part
    /// A sentence without a full stop.
    package let reason: String
    /// Of the first byte that is wrong in the part; nil if the part is wrong as a whole.
    package let offset: Int?

    init(_ part: Part, reason: String, at offset: Int? = nil) {
        (self.part, self.reason, self.offset) = (part, reason, offset)
    }

    init(_ part: Part, _ rule: TemplateRule, at offset: Int? = nil) {
        self.init(part, reason: rule.rawValue, at: offset)
    }

    package var description: String {
        "\(part.rawValue)\(offset.map { ", byte \($0)" } ?? ""): \(reason)"
    }
}
