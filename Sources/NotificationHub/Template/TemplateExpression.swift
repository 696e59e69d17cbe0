// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text

/// One value of a template: text that is taken as it is, or an expression that is filled in with the properties of a send.
///
/// | written | means |
/// | --- | --- |
/// | `$(name)` | the property; empty where the send does not have it |
/// | `$(name, 20)` | its first 20 UTF-16 code units, or fewer, so that no character is cut in two |
/// | `.(name, 20)` | the same, of which the last three are `...` where something was cut off |
/// | `%(name)` | the property, percent-encoded |
/// | `#(name)` | a number in JSON, where the property is one |
/// | `$(name:{you})` | `you` where the send does not have it; `\` stands before a `}` |
/// | `{'Hi, ' + $(name)}` | several after one another, with texts between `'` or `"`, which are doubled inside |
///
/// The whole value is one expression: `Hi, $(name)` is a text. The language is that of Azure's template registrations.
struct TemplateExpression {
    fileprivate enum Token {
        case text(String)
        case property(Property)
    }

    fileprivate struct Property {
        enum Kind: Unicode.Scalar { case plain = "$", shortened = ".", encoded = "%", number = "#" }

        let kind: Kind
        /// In lower case.
        let name: String
        var fallback = ""
        /// In UTF-16 code units.
        var limit: Int?
    }

    private let tokens: [Token]
    private let isBraced: Bool

    /// - Throws: `TemplateFlaw`, for an expression that is not of these forms.
    init(_ text: String) throws(TemplateFlaw) {
        var reader = Reader(text)
        isBraced = reader.take("{")
        if isBraced {
            tokens = try reader.composite()
        } else if let property = try reader.property() {
            tokens = [.property(property)]
        } else {
            tokens = [.text(text)]
            return
        }
        guard reader.rest.isEmpty else { throw reader.flaw(.nothingBehind) }
    }

    /// As `init`, for text of a registered template, whose registration was refused if it is wrong.
    /// - Throws: `TemplateFault.unreadable`.
    static func registered(_ text: String) throws(TemplateFault) -> TemplateExpression {
        do throws(TemplateFlaw) {
            return try TemplateExpression(text)
        } catch {
            throw .unreadable("an expression")
        }
    }

    /// The text, if it is no expression; nil if the properties of a send make it.
    var literal: String? {
        guard !isBraced, case .text(let text)? = tokens.first else { return nil }
        return text
    }

    /// - Parameters:
    ///   - properties: by their names in lower case.
    ///   - room: how many bytes there may still be; those of the text are taken off.
    /// - Throws: `TemplateFault.tooLarge`, before there are more.
    func text(_ properties: [String: String], room: inout Int) throws(TemplateFault) -> String {
        var filled = ""
        for token in tokens {
            let text =
                switch token {
                case .text(let text): text[...]
                case .property(let property): property.text(properties, room: room)
                }
            room -= text.utf8.count
            guard room >= 0 else { throw .tooLarge }
            filled += text
        }
        return filled
    }

    /// As `text(_:room:)`.
    func json(_ properties: [String: String], room: inout Int) throws(TemplateFault) -> JSONValue {
        let text = try text(properties, room: &room)
        guard !isBraced, case .property(let property)? = tokens.first, property.kind == .number else {
            return .string(text)
        }
        let number = JSONValue.number(text)
        return number.isParsable() && !text.hasPrefix("-") ? number : .string(text)
    }
}

extension TemplateExpression.Property {
    /// Where there is no room for all of it, a part that there is no room for either.
    fileprivate func text(_ properties: [String: String], room: Int) -> Substring {
        let value = properties[name] ?? fallback
        if kind == .encoded { return value.utf8.count > room ? value[...] : PercentEncoding.encode(value)[...] }
        guard let limit, value.utf8.count > limit, let first = Self.first(min(limit, room + 1), of: value) else {
            return value[...]
        }
        guard kind == .shortened else { return first }
        let dots = "...".prefix(limit)
        return (Self.first(limit - dots.count, of: value) ?? value[...]) + dots
    }

    /// The characters that are whole in the first `limit` code units; nil when there are no others.
    private static func first(_ limit: Int, of value: String) -> Substring? {
        var units = 0
        var end = value.startIndex
        while end < value.endIndex {
            units += UTF16.width(value.unicodeScalars[end])
            end = value.unicodeScalars.index(after: end)
            // With the one scalar that is too many, the last character is that, or the one that it belongs to.
            if units > limit { return value[..<end].dropLast() }
        }
        return nil
    }
}

extension TemplateExpression {
    private struct Reader {
        static let maximumNameLength = 120

        let text: String
        var rest: Substring.UnicodeScalarView

        init(_ text: String) {
            (self.text, rest) = (text, text.unicodeScalars[...])
        }

        func flaw(_ rule: TemplateRule) -> TemplateFlaw {
            TemplateFlaw(rule, offset: text.utf8.distance(from: text.startIndex, to: rest.startIndex))
        }

        mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            guard rest.first == scalar else { return false }
            rest.removeFirst()
            return true
        }

        private mutating func expect(_ scalar: Unicode.Scalar, _ rule: TemplateRule) throws(TemplateFlaw) {
            guard take(scalar) else { throw flaw(rule) }
        }

        private mutating func takeAll(where isWanted: (Unicode.Scalar) -> Bool) -> String {
            let taken = rest.prefix(while: isWanted)
            rest.removeFirst(taken.count)
            return String(taken)
        }

        private mutating func skipBlanks() {
            _ = takeAll(where: \.properties.isWhitespace)
        }

        /// What is between `{` and `}`; the first was taken.
        mutating func composite() throws(TemplateFlaw) -> [Token] {
            var tokens: [Token] = []
            repeat {
                skipBlanks()
                tokens.append(try token())
                skipBlanks()
            } while take("+")
            try expect("}", .closingBrace)
            let hasNumber = tokens.contains { if case .property(let one) = $0 { one.kind == .number } else { false } }
            guard tokens.count == 1 || !hasNumber else { throw flaw(.numberIsWhole) }
            return tokens
        }

        private mutating func token() throws(TemplateFlaw) -> Token {
            for quote in ["'", "\""] as [Unicode.Scalar] where take(quote) { return .text(try quoted(quote)) }
            guard let property = try property() else { throw flaw(.part) }
            return .property(property)
        }

        private mutating func quoted(_ quote: Unicode.Scalar) throws(TemplateFlaw) -> String {
            var text = takeAll { $0 != quote }
            try expect(quote, .closingQuote)
            while take(quote) {
                text.unicodeScalars.append(quote)
                text += takeAll { $0 != quote }
                try expect(quote, .closingQuote)
            }
            return text
        }

        /// Nil where none begins; then nothing was taken.
        mutating func property() throws(TemplateFlaw) -> Property? {
            guard let kind = rest.first.flatMap(Property.Kind.init), rest.dropFirst().first == "(" else { return nil }
            rest.removeFirst(2)
            skipBlanks()
            let start = flaw(.name)
            let name = takeAll { $0 == "_" || $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0) }
            guard (1...Self.maximumNameLength).contains(name.utf8.count) else { throw start }
            var property = Property(kind: kind, name: name.lowercased())
            skipBlanks()
            if take(":") { property.fallback = try fallback() }
            skipBlanks()
            if kind == .plain || kind == .shortened, take(",") { property.limit = try limit() }
            guard kind != .shortened || property.limit != nil else { throw flaw(.length) }
            try expect(")", .closingParenthesis)
            return property
        }

        private mutating func limit() throws(TemplateFlaw) -> Int {
            skipBlanks()
            let start = flaw(.length)
            let digits = takeAll { ("0"..."9").contains($0) }
            skipBlanks()
            guard let limit = Int(digits) else { throw start }
            return limit
        }

        private mutating func fallback() throws(TemplateFlaw) -> String {
            skipBlanks()
            try expect("{", .fallback)
            var text = takeAll { $0 != "}" && $0 != "\\" }
            while take("\\") {
                guard let escaped = rest.popFirst() else { throw flaw(.fallback) }
                text.unicodeScalars.append(escaped)
                text += takeAll { $0 != "}" && $0 != "\\" }
            }
            try expect("}", .fallback)
            return text
        }
    }
}
