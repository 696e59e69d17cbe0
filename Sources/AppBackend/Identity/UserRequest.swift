// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
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

/// Surrounds the routes: below `/api/admin` only an administrator passes who has logged in at this site's page, and a new
/// route there cannot forget it.
///
/// A password and a token are kept by apps and scripts, and a browser adds a password to requests of any page. So they are not
/// enough here, and what only reads needs the proof that this site's page asks, too.
struct AdministrationHandler: UserResponder {
    private static let prefix = Path.admin + "/"

    let policy: TagPolicy
    let inner: any UserResponder

    /// - Throws: `Problem` 403; `RoutingError.notFound`; what the inner responder throws.
    func respond(to request: UserRequest) throws -> Response {
        guard let route = request.route, route.hasMethod, route.pattern.hasPrefix(Self.prefix) else {
            return try inner.respond(to: request)
        }
        guard request.user.method == .session else {
            throw Problem(
                .logInRequired, "To administer, log in at this site's page: a password or a token is not enough here.")
        }
        // Web servers compare paths with regard to case, and may keep this one to some networks.
        guard request.http.path.hasPrefix(Self.prefix) else { throw RoutingError.notFound }
        guard RequestOrigin(request.http) == .own else { throw RequestOrigin.crossSiteRequest }
        guard policy.rights(of: request.user).mayAdminister else {
            throw Problem(.notAdministrator, "You may not administer: none of your roles lets you (roles.administer).")
        }
        return try inner.respond(to: request)
    }
}

/// Surrounds the routes: a principal passes as far as its scope goes. It comes before the limits, so what is refused
/// here counts against none.
struct ScopeHandler: UserResponder {
    let inner: any UserResponder

    /// - Throws: `Problem` 403; what the inner responder throws.
    func respond(to request: UserRequest) throws -> Response {
        // What is at no path, or has no such method, is answered so to all users.
        guard let actions = request.user.scope.actions, let route = request.route, route.hasMethod else {
            return try inner.respond(to: request)
        }
        guard let needed = Scope.Action(request.http.method, route.pattern) else {
            throw Problem(.tokenNotAllowed, "An app token may not do that: log in with name and password.")
        }
        guard actions.contains(needed) else {
            throw Problem(.scopeMissing, "This app token lacks the scope \(needed.rawValue).")
        }
        return try inner.respond(to: request)
    }
}
