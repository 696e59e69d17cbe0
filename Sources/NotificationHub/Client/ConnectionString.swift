// SPDX-License-Identifier: Apache-2.0
package import Text

/// How to reach a hub and with which key:
/// `Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=…;SharedAccessKey=…[;EntityPath=hub]`.
package struct ConnectionString: Sendable {
    /// A text longer than this is refused, in bytes.
    package static let maximumLength = 2048
    /// A key or a policy's name longer than this is refused, in bytes; the limit of Microsoft's own parser.
    package static let maximumKeyLength = 256

    /// `https`; `http` only for this host itself.
    package let scheme: String
    /// The host in lower case, with its port where the text names one: `ns.servicebus.windows.net`.
    package let endpoint: String
    /// The policy's name.
    package let keyName: String
    /// What requests are signed with.
    package let key: Secret
    /// The hub, where the text names it.
    package let entityPath: String?

    /// Field names are compared without case and may be in any order; a value may contain `=`.
    /// - Throws: `ConnectionStringError`, for everything that is not understood: a text that is half read would show
    ///   itself later, as a wrong key.
    package init(_ text: String) throws(ConnectionStringError) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
        var values: [ConnectionStringField: String] = [:]
        for (index, part) in text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .enumerated()
        {
            guard let (field, value) = try Self.field(Substring(part), at: index + 1) else { continue }
            guard values.updateValue(value, forKey: field) == nil else { throw .repeated(field) }
        }
        (scheme, endpoint) = try Self.address(try Self.value(.endpoint, in: values))
        keyName = try Self.value(.sharedAccessKeyName, in: values)
        key = Secret(try Self.value(.sharedAccessKey, in: values))
        entityPath = values[.entityPath].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func value(
        _ field: ConnectionStringField, in values: [ConnectionStringField: String]
    ) throws(ConnectionStringError) -> String {
        guard let value = values[field], !value.isEmpty else { throw .missing(field) }
        guard value.utf8.count <= maximumKeyLength else { throw .tooLong }
        return value
    }

    /// One `Name=value`; nil for an empty part, as behind a last semicolon.
    private static func field(
        _ part: Substring, at position: Int
    ) throws(ConnectionStringError) -> (ConnectionStringField, String)? {
        let part = part.utf8.drop(while: ASCII.isBlank)
        guard !part.isEmpty else { return nil }
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")),
            let field = ConnectionStringField.allCases.first(where: {
                ASCII.equalIgnoringCase($0.rawValue, String(Substring(part[..<equals])))
            })
        else { throw .unknownField(position: position) }
        var value = part[part.index(after: equals)...]
        while let last = value.last, ASCII.isBlank(last) { value.removeLast() }
        guard value.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .illegalCharacter(field) }
        return (field, String(Substring(value)))
    }

    private static func address(_ text: String) throws(ConnectionStringError) -> (scheme: String, endpoint: String) {
        let lower = String(decoding: text.utf8.map(ASCII.lowercased), as: UTF8.self)
        for (prefix, scheme) in [("sb://", "https"), ("https://", "https"), ("http://", "http")] {
            guard lower.utf8.starts(with: prefix.utf8) else { continue }
            var rest = Substring(lower.utf8.dropFirst(prefix.utf8.count))
            if rest.utf8.last == UInt8(ascii: "/") { rest = Substring(rest.utf8.dropLast()) }
            guard let authority = Authority(rest) else { throw .badEndpoint }
            guard scheme == "https" || authority.isLoopback else { throw .insecureEndpoint }
            return (scheme, authority.description)
        }
        throw .badEndpoint
    }
}

/// The fields that a connection string may have.
package enum ConnectionStringField: String, CaseIterable, Sendable {
    case endpoint = "Endpoint"
    case sharedAccessKeyName = "SharedAccessKeyName"
    case sharedAccessKey = "SharedAccessKey"
    case entityPath = "EntityPath"
}

/// What is wrong with a connection string; never any part of its text.
package enum ConnectionStringError: Error, Equatable, Sendable, CustomStringConvertible {
    case missing(ConnectionStringField)
    case repeated(ConnectionStringField)
    /// The part at that position (the first is 1) has no name that is known here.
    case unknownField(position: Int)
    /// A value holds a blank, a control character or one that is not ASCII.
    case illegalCharacter(ConnectionStringField)
    /// The endpoint is not `sb://host/` or `https://host[:port]/`.
    case badEndpoint
    /// `http://` to another host would send the key's signature in the clear.
    case insecureEndpoint
    case tooLong

    package var description: String {
        switch self {
        case .missing(let field): "\(field.rawValue) is missing"
        case .repeated(let field): "\(field.rawValue) is there twice"
        case .unknownField(let position): "part \(position) is not Endpoint, SharedAccessKeyName or SharedAccessKey"
        case .illegalCharacter(let field): "\(field.rawValue) has a character that cannot be in it"
        case .badEndpoint: "Endpoint must be sb://host/"
        case .insecureEndpoint: "Endpoint must be sb:// or https:// unless it is this host"
        case .tooLong: "it is too long"
        }
    }
}
