// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
import Text

/// The patterns of a router's rows, and what they find in a path. It knows nothing of their actions, so it is compiled once
/// and not once for each kind of them.
struct RouteTable: Sendable {
    struct Row: Sendable {
        let method: HTTPRequest.Method
        let pattern: [PathSegment]
    }

    /// The row for a request, or the rows that have its path.
    enum Match {
        case row(Int, PathParameters)
        /// None of them has its method.
        case path(rows: [Int])
    }

    private let rows: [Row]

    /// - Parameter rows: in the order of their numbers of parameters.
    init(_ rows: [Row]) {
        self.rows = rows
    }

    /// - Returns: nil when there is no such path.
    func match(_ method: HTTPRequest.Method, _ path: String) -> Match? {
        let method = method.ofRoute
        var path = path
        return path.withUTF8 { path in
            guard let segments = PathSegment.places(in: path) else { return nil }
            var others: [Int] = []
            for index in rows.indices where rows[index].matches(path, segments) {
                // What a pattern spells out is nothing that a parameter stands for.
                if let first = others.first, rows[index].pattern.parameterCount > rows[first].pattern.parameterCount {
                    break
                }
                if rows[index].method == method { return .row(index, rows[index].parameters(of: path, segments)) }
                others.append(index)
            }
            return others.isEmpty ? nil : .path(rows: others)
        }
    }
}

extension [PathSegment] {
    /// How many of a pattern's segments stand for others.
    var parameterCount: Int { count { if case .parameter = $0 { true } else { false } } }
}

extension RouteTable.Row {
    /// Whether these are the pattern's segments.
    /// - Parameter segments: where in the bytes they stand.
    fileprivate func matches(_ path: UnsafeBufferPointer<UInt8>, _ segments: [Range<Int>]) -> Bool {
        guard segments.count == pattern.count else { return false }
        for index in segments.indices where !pattern[index].matches(path, segments[index]) { return false }
        return true
    }

    /// - Parameter path: one that matches.
    fileprivate func parameters(of path: UnsafeBufferPointer<UInt8>, _ segments: [Range<Int>]) -> PathParameters {
        var parameters = PathParameters()
        for index in pattern.indices {
            guard case .parameter(let name) = pattern[index] else { continue }
            let text = UnsafeBufferPointer(rebasing: path[segments[index]])
            if let value = PathSegment.value(of: text) { parameters.values.append((name, value)) }
        }
        return parameters
    }
}

extension PathSegment {
    fileprivate func matches(_ path: UnsafeBufferPointer<UInt8>, _ place: Range<Int>) -> Bool {
        switch self {
        case .literal(let literal):
            guard literal.count == place.count else { return false }
            for index in literal.indices where ASCII.lowercased(path[place.lowerBound + index]) != literal[index] {
                return false
            }
            return true
        case .parameter: return Self.value(of: UnsafeBufferPointer(rebasing: path[place])) != nil
        }
    }

    /// What a path has in the place of a parameter; nil when it is no text.
    fileprivate static func value(of text: UnsafeBufferPointer<UInt8>) -> String? {
        // Part of a text, so a text it is unless something is encoded in it.
        text.contains(UInt8(ascii: "%")) ? PercentEncoding.decode(text) : String(decoding: text, as: UTF8.self)
    }

    /// Where the segments of a path are in its bytes; nil when one of them is empty, because a server in front may take such
    /// a path for another one than it is here. A slash at the end is not a segment.
    fileprivate static func places(in path: UnsafeBufferPointer<UInt8>) -> [Range<Int>]? {
        var places: [Range<Int>] = []
        places.reserveCapacity(8)
        var start = path.first == UInt8(ascii: "/") ? 1 : 0
        for index in path.indices.dropFirst(start) where path[index] == UInt8(ascii: "/") {
            guard index > start else { return nil }
            places.append(start..<index)
            start = index + 1
        }
        if path.count > start { places.append(start..<path.count) }
        return places
    }
}
