// SPDX-License-Identifier: Apache-2.0

extension TagExpression {
    /// A text longer than this is refused, in bytes; 20 tags of 120 letters fit.
    package static let maximumLength = 16_384
    /// Parentheses and `!` within each other; deeper is refused, for parsing recurses.
    package static let maximumDepth = 16

    /// Reads what is in `ServiceBusNotification-Tags`. Blanks between tags and operators do not matter.
    /// - Throws: `TagExpressionError`, with the place.
    package init(parsing text: String) throws(TagExpressionError) {
        guard text.utf8.count <= Self.maximumLength else { throw TagExpressionError(offset: 0, reason: .tooLong) }
        var parser = Parser(scalars: Array(text.unicodeScalars))
        self = try parser.whole()
    }
}

/// Recursive descent over `or = and *("||" and)`, `and = unary *("&&" unary)`, `unary = "!" unary / "(" or ")" / tag`.
private struct Parser {
    let scalars: [Unicode.Scalar]
    var index = 0
    /// Bytes before `index`, for errors.
    var offset = 0
    var depth = 0
    var tagCount = 0

    init(scalars: [Unicode.Scalar]) {
        self.scalars = scalars
    }

    mutating func whole() throws(TagExpressionError) -> TagExpression {
        let expression = try disjunction()
        skipBlanks()
        guard current == nil else { throw fail(isTokenStart ? .operatorExpected : .unexpectedCharacter) }
        guard expression.isWithinLimits else { throw fail(.tooManyTags) }
        return expression
    }

    private mutating func disjunction() throws(TagExpressionError) -> TagExpression {
        var expression = try conjunction()
        while try take("|") { expression = .or(expression, try conjunction()) }
        return expression
    }

    private mutating func conjunction() throws(TagExpressionError) -> TagExpression {
        var expression = try operand()
        while try take("&") { expression = .and(expression, try operand()) }
        return expression
    }

    private mutating func operand() throws(TagExpressionError) -> TagExpression {
        skipBlanks()
        guard depth < TagExpression.maximumDepth else { throw fail(.tooDeep) }
        depth += 1
        defer { depth -= 1 }
        switch current {
        case "!":
            advance()
            return .not(try operand())
        case "(":
            advance()
            let expression = try disjunction()
            skipBlanks()
            guard current == ")" else { throw fail(current == nil ? .unclosedParenthesis : .operatorExpected) }
            advance()
            return expression
        default: return .tag(try tag())
        }
    }

    /// The longest run of tag characters; `#`, `.`, `:`, `-` and `@` are among them.
    private mutating func tag() throws(TagExpressionError) -> Tag {
        let start = offset
        let isSystem = current == "$"
        let text = isSystem ? takeSystemTag() : takeWhile(TagCharacter.isTag)
        guard !text.isEmpty else {
            throw fail(current == nil || isTokenStart ? .tagExpected : .unexpectedCharacter)
        }
        tagCount += 1
        guard tagCount <= TagExpression.maximumTagsOfDisjunction else {
            throw TagExpressionError(offset: start, reason: .tooManyTags)
        }
        do throws(TagError) {
            return isSystem ? try Tag(system: text) : try Tag(text)
        } catch {
            throw TagExpressionError(offset: start, reason: .badTag)
        }
    }

    /// `$Name:{value}`, up to and with the brace; `Tag` decides whether it is one.
    private mutating func takeSystemTag() -> String {
        advance()
        var text = "$" + takeWhile(TagCharacter.isTag)
        guard current == "{" else { return text }
        advance()
        text += "{" + takeWhile(TagCharacter.isSystemValue)
        guard current == "}" else { return text }
        advance()
        return text + "}"
    }

    private mutating func takeWhile(_ isWanted: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = current, isWanted(scalar) {
            text.append(scalar)
            advance()
        }
        return String(text)
    }

    /// Takes the operator that is this character twice. A single one is an error.
    private mutating func take(_ scalar: Unicode.Scalar) throws(TagExpressionError) -> Bool {
        skipBlanks()
        guard current == scalar else { return false }
        advance()
        guard current == scalar else { throw fail(.operatorExpected) }
        advance()
        return true
    }

    private mutating func skipBlanks() {
        while current == " " || current == "\t" { advance() }
    }

    private mutating func advance() {
        guard let scalar = current else { return }
        offset += UTF8.width(scalar)
        index += 1
    }

    private var current: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private var isTokenStart: Bool {
        guard let current else { return false }
        return "!()&|$".unicodeScalars.contains(current) || TagCharacter.isTag(current)
    }

    private func fail(_ reason: TagExpressionError.Reason) -> TagExpressionError {
        TagExpressionError(offset: offset, reason: reason)
    }
}
