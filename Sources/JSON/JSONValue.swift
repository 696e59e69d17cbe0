// SPDX-License-Identifier: Apache-2.0

/// A parsed JSON value (RFC 8259). Members keep their order; numbers keep their text, so nothing is rounded.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// One `"name": value` of an object.
    public struct Member: Hashable, Sendable {
        /// Unescaped.
        public var name: String
        /// What the name stands for.
        public var value: JSONValue

        /// A member of that name and value.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The member of that name, spelled exactly so; nil in anything but an object.
    public subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text, when it is a string.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The truth, when it is one.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number, when it is whole and fits; `1.0` and `1e3` are not whole numbers here.
    public var integer: Int? {
        if case .number(let text) = self { Int(text) } else { nil }
    }

    /// The elements, when it is an array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members in their order, when it is an object.
    public var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Whether it is `null`.
    public var isNull: Bool { self == .null }

    /// What kind of value it is, as an error names it: `a string`.
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue {
    /// Whether `init(parsing:)` takes what `JSONWriter` makes of the value. A value can be built for which that is not so:
    /// one with a number that is no number in JSON, with the same name twice in an object, or nested too deep.
    /// - Parameter depth: of how many objects and arrays the value will be a part.
    public func isParsable(atDepth depth: Int = 0) -> Bool {
        switch self {
        case .null, .bool, .string: true
        case .number(let text): (try? JSONValue(parsing: Array(text.utf8))) == self
        case .array(let elements):
            depth < Self.maximumDepth && elements.allSatisfy { $0.isParsable(atDepth: depth + 1) }
        case .object(let members):
            depth < Self.maximumDepth && Set(members.map(\.name)).count == members.count
                && members.allSatisfy { $0.value.isParsable(atDepth: depth + 1) }
        }
    }
}
