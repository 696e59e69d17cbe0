// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// One row of a router's table.
public struct Route: Sendable {
    let method: HTTPRequest.Method
    /// As it was given.
    let name: String
    let pattern: [PathSegment]
    let action: @Sendable (Request, PathParameters) throws -> Response

    /// - Parameters:
    ///   - pattern: `/api/register/{id}`. Literal segments are compared without regard to ASCII case (as ASP.NET
    ///     does); `{name}` takes exactly one non-empty segment, percent-decoded.
    public init(
        _ method: HTTPRequest.Method, _ pattern: String,
        _ action: @escaping @Sendable (Request, PathParameters) throws -> Response
    ) {
        self.method = method
        name = pattern
        self.pattern = pattern.utf8.split(separator: UInt8(ascii: "/")).map(PathSegment.init)
        self.action = action
    }
}

/// The values that a path gave to the `{names}` of its pattern.
public struct PathParameters: Sendable {
    var values: [(name: String, value: String)] = []

    /// The value of `{name}`; empty when the pattern has no such name, which no route of ours does.
    public subscript(_ name: String) -> String {
        values.first { $0.name == name }?.value ?? ""
    }
}

/// Why a router has no action for a request.
public enum RoutingError: Error, Equatable, Sendable {
    /// No pattern matches the path: 404.
    case notFound
    /// The path exists, the method does not: 405, with these methods in `Allow`, in the order of the table.
    case methodNotAllowed([HTTPRequest.Method])
}

enum PathSegment: Equatable, Sendable {
    case literal([UInt8])
    case parameter(String)

    init(_ text: Substring.UTF8View) {
        if text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}") {
            self = .parameter(String(Substring(text.dropFirst().dropLast())))
        } else {
            self = .literal(text.map(ASCII.lowercased))
        }
    }
}

/// A responder that can say which of its routes a request takes, for those who count.
public protocol RoutedResponder: Responder {
    /// The pattern of the first route with the request's path, whatever its method: `/api/register/{id}`. Never anything
    /// of the path itself; nil when there is no such route.
    func route(of request: Request) -> String?
}

/// Chooses the action for a request by its path, then by its method.
public struct Router: RoutedResponder {
    private let routes: [Route]

    /// - Parameter routes: tried in this order.
    public init(_ routes: [Route]) {
        self.routes = routes
    }

    /// Whether there is a route of this path, whatever its method.
    public func knows(_ path: String) -> Bool {
        first(path) != nil
    }

    /// As the protocol says.
    public func route(of request: Request) -> String? {
        first(request.path)?.name
    }

    private func first(_ path: String) -> Route? {
        let segments = path.utf8.split(separator: UInt8(ascii: "/"))
        return routes.first { match(segments, $0.pattern) != nil }
    }

    /// - Throws: `RoutingError`, before any action runs; then whatever the action throws.
    public func respond(to request: Request) throws -> Response {
        let segments = request.path.utf8.split(separator: UInt8(ascii: "/"))
        var allowed: [HTTPRequest.Method] = []
        for route in routes {
            guard let parameters = match(segments, route.pattern) else { continue }
            if route.method == request.method { return try route.action(request, parameters) }
            if !allowed.contains(route.method) { allowed.append(route.method) }
        }
        throw allowed.isEmpty ? RoutingError.notFound : RoutingError.methodNotAllowed(allowed)
    }

    private func match(_ segments: [Substring.UTF8View], _ pattern: [PathSegment]) -> PathParameters? {
        guard segments.count == pattern.count else { return nil }
        var parameters = PathParameters()
        for (segment, expected) in zip(segments, pattern) {
            switch expected {
            case .literal(let literal):
                guard segment.elementsEqual(literal, by: { ASCII.lowercased($0) == $1 }) else { return nil }
            case .parameter(let name):
                guard let value = PercentEncoding.decode(segment) else { return nil }
                parameters.values.append((name, value))
            }
        }
        return parameters
    }
}
