// SPDX-License-Identifier: Apache-2.0

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
