// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
import Text

/// One row of a router's table.
public struct Route<Action: Sendable>: Sendable {
    let method: HTTPRequest.Method
    /// As it was given.
    package let name: String
    let pattern: [PathSegment]
    let action: Action

    /// - Parameters:
    ///   - method: of GET, HEAD comes along.
    ///   - pattern: `/api/register/{id}`. Literal segments are compared without regard to ASCII case (as ASP.NET
    ///     does); `{name}` takes exactly one non-empty segment, percent-decoded.
    public init(_ method: HTTPRequest.Method, _ pattern: String, _ action: Action) {
        self.method = method
        name = pattern
        self.pattern = pattern.utf8.split(separator: UInt8(ascii: "/")).map(PathSegment.init)
        self.action = action
    }

    fileprivate var parameterCount: Int { pattern.parameterCount }
}

extension HTTPRequest.Method {
    /// The method whose route answers a request: HEAD is answered as GET is, and the server leaves the body out (RFC 9110
    /// section 9.3.2).
    package var ofRoute: HTTPRequest.Method { self == .head ? .get : self }

    /// What is allowed where this method is, for `Allow`.
    package var withHead: [HTTPRequest.Method] { self == .get ? [.get, .head] : [self] }
}

/// The action of a route that takes a request as it came.
public typealias RequestAction = @Sendable (Request, PathParameters) throws -> Response

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

/// What a router has for a path, looked up once.
public struct RouteMatch<Action: Sendable>: Sendable {
    /// Of the route: `/api/register/{id}`. Never anything of the path itself.
    public let pattern: String
    /// What the path gave to the pattern's names.
    public let parameters: PathParameters
    private let found: Result<Action, RoutingError>

    init(_ route: Route<Action>, parameters: PathParameters) {
        (pattern, self.parameters, found) = (route.name, parameters, .success(route.action))
    }

    /// The path has routes, and none of the method.
    init(pattern: String, allowed: [HTTPRequest.Method]) {
        (self.pattern, parameters, found) = (pattern, PathParameters(), .failure(.methodNotAllowed(allowed)))
    }

    /// Whether the path has the request's method.
    public var hasMethod: Bool { if case .success = found { true } else { false } }

    /// The action of the request's method.
    /// - Throws: `RoutingError.methodNotAllowed`.
    public func action() throws(RoutingError) -> Action { try found.get() }
}

/// Chooses the action for a request by its path, then by its method.
public struct Router<Action: Sendable>: Sendable {
    private let routes: [Route<Action>]
    private let table: RouteTable

    /// - Parameter routes: those with fewer parameters first, so that a word that one route has is no parameter of another;
    ///   else tried in this order.
    public init(_ routes: [Route<Action>]) {
        let routes = routes.enumerated()
            .sorted { ($0.element.parameterCount, $0.offset) < ($1.element.parameterCount, $1.offset) }
            .map(\.element)
        self.routes = routes
        table = RouteTable(routes.map { RouteTable.Row(method: $0.method, pattern: $0.pattern) })
    }

    /// - Returns: nil when there is no such path.
    public func match(_ request: Request) -> RouteMatch<Action>? {
        switch table.match(request.method, request.path) {
        case nil: return nil
        case .row(let index, let parameters): return RouteMatch(routes[index], parameters: parameters)
        case .path(let rows):
            var allowed: [HTTPRequest.Method] = []
            for row in rows where !allowed.contains(routes[row].method) {
                allowed += routes[row].method.withHead
            }
            return rows.first.map { RouteMatch(pattern: routes[$0].name, allowed: allowed) }
        }
    }
}

extension Router: Responder where Action == RequestAction {
    /// - Throws: `RoutingError`, before any action runs; then whatever the action throws.
    public func respond(to request: Request) throws -> Response {
        guard let match = match(request) else { throw RoutingError.notFound }
        return try match.respond(to: request)
    }
}

extension RouteMatch where Action == RequestAction {
    /// - Throws: as `action()`, before the action runs; then whatever the action throws.
    public func respond(to request: Request) throws -> Response {
        var response = try action()(request, parameters)
        response.route = pattern
        return response
    }
}
