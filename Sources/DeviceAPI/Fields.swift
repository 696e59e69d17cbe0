// SPDX-License-Identifier: Apache-2.0
public import JSON
import Text

/// A JSON object from outside, read member by member. Names are compared without regard to ASCII case, as ASP.NET
/// does; `null` is the same as absent.
public struct Fields: Sendable {
    /// Of an unknown member's name, in bytes: so much of it an answer repeats.
    private static let maximumNameLength = 128

    private let members: [JSONValue.Member]

    /// - Parameter known: the members that it may have, so that a misspelt one is not taken for one that is absent. Nil: any, for
    ///   the calls of the tutorials' apps, which may send more than is read.
    /// - Throws: `Problem` 400, when the body is not JSON, not an object, or has a value under another name.
    public init(body: [UInt8], known: [String]?) throws(Problem) {
        guard case .object(let members) = try JSONValue(body: body) else {
            throw Problem(.invalidBody, "The body must be a JSON object.", field: "body")
        }
        self.members = members
        guard let known else { return }
        let other = names.first { name in !known.contains { ASCII.equalIgnoringCase($0, name) } }
        guard let other else { return }
        throw Problem(
            .unexpectedMember, "There is no such member here; there are \(known.joined(separator: ", ")).",
            field: String(decoding: other.utf8.prefix(Self.maximumNameLength), as: UTF8.self))
    }

    /// - Throws: `Problem` 400, when the value is not an object; `field` names where it stands.
    public init(_ value: JSONValue, field: String) throws(Problem) {
        guard case .object(let members) = value else {
            throw Problem(.invalidValue, "\(field) must be an object, not \(value.kind).", field: field)
        }
        self.members = members
    }

    /// The names of the members that have a value, as they were spelled.
    private var names: [String] { members.filter { $0.value != .null }.map(\.name) }

    /// The member's value; nil when it is absent or `null`.
    public subscript(_ name: String) -> JSONValue? {
        let value = members.first { ASCII.equalIgnoringCase($0.name, name) }?.value
        return value == .null ? nil : value
    }

    /// - Throws: `Problem` 400, when the member is there and is not a string.
    public func optionalString(_ name: String) throws(Problem) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string else {
            throw Problem(.invalidValue, "\(name) must be a string, not \(value.kind).", field: name)
        }
        return text
    }

    /// Whether the member is there, with a value or `null`.
    package func has(_ name: String) -> Bool { members.contains { ASCII.equalIgnoringCase($0.name, name) } }

    /// A truth value; false when the member is absent.
    /// - Throws: `Problem` 400, when it is anything else.
    package func bool(_ name: String) throws(Problem) -> Bool {
        guard let value = self[name] else { return false }
        guard let bool = value.bool else {
            throw Problem(.invalidValue, "\(name) must be true or false.", field: name)
        }
        return bool
    }

    /// - Throws: `Problem` 400, when the member is absent, not a string, or empty.
    public func string(_ name: String) throws(Problem) -> String {
        guard let text = try optionalString(name), !text.isEmpty else {
            throw Problem(.missingValue, "\(name) is missing.", field: name)
        }
        return text
    }

    /// An array of strings; empty when the member is absent.
    /// - Throws: `Problem` 400, when it is anything else.
    public func strings(_ name: String) throws(Problem) -> [String] {
        guard let value = self[name] else { return [] }
        let strings = value.array?.compactMap(\.string)
        guard let strings, strings.count == value.array?.count else {
            throw Problem(.invalidValue, "\(name) must be an array of strings.", field: name)
        }
        return strings
    }
}

extension JSONValue {
    /// Parses a request's body.
    /// - Parameter isTyped: whether strings may hold tabs and line breaks as they are.
    /// - Throws: `Problem` 400 with the offset of what is wrong, never the text.
    public init(body: [UInt8], isTyped: Bool = false) throws(Problem) {
        do throws(JSONSyntaxError) {
            if isTyped {
                try self.init(parsingTyped: body)
            } else {
                try self.init(parsing: body)
            }
        } catch {
            throw Problem(.invalidBody, "The body is not valid JSON: \(error).", field: "body")
        }
    }
}
