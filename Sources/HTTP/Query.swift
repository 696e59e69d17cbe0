// SPDX-License-Identifier: Apache-2.0
import Text

/// The decoded items of a query, names compared without regard to ASCII case (as ASP.NET and the hub do).
public struct Query: Sendable {
    /// A query with more items than this is refused.
    public static let maximumItems = 32

    /// What is wrong with a query; the request that carries it is answered 400.
    public enum Malformed: Error, Equatable, Sendable {
        case badEncoding(name: String)
        case tooManyItems
    }

    private var items: [(name: String, value: String)] = []

    /// - Parameter text: what follows the `?`: `name=value` pairs joined by `&`, `+` meaning a blank.
    /// - Throws: `Malformed`, for a `%` without two digits, bytes that are not UTF-8, or too many items.
    public init(_ text: String) throws(Malformed) {
        guard !text.isEmpty else { return }
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            guard items.count < Self.maximumItems else { throw .tooManyItems }
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = halves.first, let name = PercentEncoding.decode(first, plusIsSpace: true) else {
                throw .badEncoding(name: "")
            }
            let rawValue = halves.count > 1 ? halves[1] : pair.suffix(0)
            guard let value = PercentEncoding.decode(rawValue, plusIsSpace: true) else {
                throw .badEncoding(name: name)
            }
            items.append((name, value))
        }
    }

    /// All items, names in lower case (ASCII) and sorted; those of one name in the order in which they came. Two queries
    /// that mean the same are the same here.
    public var canonical: [(name: String, value: String)] {
        let items = items.enumerated().map { index, item in
            (name: item.name.utf8.map(ASCII.lowercased), index: index, value: item.value)
        }
        let sorted = items.sorted { one, other in
            one.name == other.name ? one.index < other.index : one.name.lexicographicallyPrecedes(other.name)
        }
        return sorted.map { (String(decoding: $0.name, as: UTF8.self), $0.value) }
    }

    /// The first value under that name; empty where the name stands alone (`?direct`); nil when it is absent.
    public subscript(_ name: String) -> String? {
        items.first { ASCII.equalIgnoringCase($0.name, name) }?.value
    }
}
