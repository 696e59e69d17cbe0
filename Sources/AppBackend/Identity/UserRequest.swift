// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes

/// A request whose user is known, and whose route was looked up.
struct UserRequest: Sendable {
    let http: Request
    let user: Principal
    /// Nil: there is no such path.
    let route: RouteMatch<UserAction>?

    var id: String { http.id }
    var query: String { http.query }
    var body: [UInt8] { http.body }
}

/// The action of a route that only users reach.
typealias UserAction = @Sendable (UserRequest, PathParameters) throws -> Response

/// What carries out users' requests: the routes, and what surrounds them.
protocol UserResponder: Sendable {
    func respond(to request: UserRequest) throws -> Response
}

/// Carries out the request's route.
struct RouteHandler: UserResponder {
    /// - Throws: `RoutingError`, before any action runs; then whatever the action throws.
    func respond(to request: UserRequest) throws -> Response {
        guard let route = request.route else { throw RoutingError.notFound }
        return try route.action()(request, route.parameters)
    }
}
