// SPDX-License-Identifier: Apache-2.0

/// To whom a message goes: tags joined by `&&`, `||` and `!`, with optional parentheses.
///
/// `!` binds closer than `&&`, and `&&` closer than `||`. Microsoft does not say so anywhere, therefore `description`
/// writes the parentheses wherever it would matter.
package indirect enum TagExpression: Hashable, Sendable {
    case tag(Tag)
    case not(TagExpression)
    case and(TagExpression, TagExpression)
    case or(TagExpression, TagExpression)

    /// The tags that an expression may have when it joins them by `||` only.
    package static let maximumTagsOfDisjunction = 20
    /// The tags that any other expression may have.
    package static let maximumTags = 6

    /// Everyone who has at least one of these tags.
    /// - Throws: `TagExpressionError`, for more than 20 tags, and for none, which would otherwise address everybody.
    package static func any(of tags: [Tag]) throws(TagExpressionError) -> TagExpression {
        guard let first = tags.first else { throw TagExpressionError(offset: 0, reason: .tagExpected) }
        guard tags.count <= maximumTagsOfDisjunction else { throw TagExpressionError(offset: 0, reason: .tooManyTags) }
        return tags.dropFirst().reduce(.tag(first)) { .or($0, .tag($1)) }
    }

    /// Whether a registration with these tags is addressed.
    package func matches(_ tags: Set<Tag>) -> Bool { matches { tags.contains($0) } }

    /// Whether a registration is addressed.
    /// - Parameter bears: whether it has a tag.
    package func matches(_ bears: (Tag) -> Bool) -> Bool {
        switch self {
        case .tag(let tag): bears(tag)
        case .not(let operand): !operand.matches(bears)
        case .and(let one, let other): one.matches(bears) && other.matches(bears)
        case .or(let one, let other): one.matches(bears) || other.matches(bears)
        }
    }

    /// Every tag that is mentioned, in order, also more than once.
    package var tags: [Tag] {
        switch self {
        case .tag(let tag): [tag]
        case .not(let operand): operand.tags
        case .and(let one, let other), .or(let one, let other): one.tags + other.tags
        }
    }

    /// Whether the hub takes it: at most 20 tags where only `||` joins them, otherwise at most 6.
    package var isWithinLimits: Bool {
        tags.count <= (isDisjunction ? Self.maximumTagsOfDisjunction : Self.maximumTags)
    }

    private var isDisjunction: Bool {
        switch self {
        case .tag: true
        case .or(let one, let other): one.isDisjunction && other.isDisjunction
        case .not, .and: false
        }
    }
}

extension TagExpression: CustomStringConvertible {
    /// As it is in `ServiceBusNotification-Tags`.
    package var description: String {
        switch self {
        case .tag(let tag): tag.description
        case .not(let operand): "!" + operand.operandText { if case .not = $0 { true } else { false } }
        case .and(let one, let other):
            [one, other].map { $0.operandText { if case .and = $0 { true } else { false } } }.joined(separator: " && ")
        case .or(let one, let other):
            [one, other].map { $0.operandText { if case .or = $0 { true } else { false } } }.joined(separator: " || ")
        }
    }

    /// The text inside a larger expression: bare where it is a tag or the same operator again.
    private func operandText(bareWhen isSame: (TagExpression) -> Bool) -> String {
        if case .tag(let tag) = self { return tag.description }
        return isSame(self) ? description : "(\(description))"
    }
}

/// What is wrong with a tag expression, and where. It never repeats the text.
package struct TagExpressionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Offset of the first byte that is wrong; the length of the text when it ends too early.
    package let offset: Int
    package let reason: Reason

    package init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    /// The rule that is broken; its raw value is the sentence for people.
    package enum Reason: String, Sendable {
        case tooLong = "the expression is too long"
        case unexpectedCharacter = "a character that no expression has"
        case tagExpected = "a tag, ! or ( is expected"
        case operatorExpected = "&&, || or ) is expected"
        case unclosedParenthesis = "a parenthesis is not closed"
        case tooDeep = "too many parentheses within each other"
        case badTag = "this is not a legal tag"
        case tooManyTags = "at most 20 tags joined by || alone, otherwise at most 6"
    }

    package var description: String { "\(reason.rawValue) (at byte \(offset))" }
}
