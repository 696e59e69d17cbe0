// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes

/// Surrounds the routes: only a user's request passes, and a new route cannot forget it.
struct AuthenticationHandler: Sendable {
    /// In the order of the configuration: the first that finds something of its kind decides.
    let authenticators: [any Authenticator]
    let challenge: Challenge
    let seen: SeenUsers
    let inner: any UserResponder

    /// - Parameter route: the request's; nil: there is no such path, which only users are told.
    /// - Throws: what the authenticators, the store and the inner responder throw, and `Problem` 403. Wrong credentials
    ///   and sessions that have ended are not thrown but answered.
    func respond(to request: Request, route: RouteMatch<UserAction>?) throws -> Response {
        let request = request.withAPIKey(at: route?.pattern)
        switch try authenticate(request) {
        case .principal(let user):
            guard ExpectedUser.isMet(by: user, request) else { return challenge.response(to: request) }
            seen.note(user)
            return try inner.respond(to: UserRequest(http: request, user: user, route: route))
        case .invalidToken(let error): return challenge.response(to: error)
        case .refused, .notMine: return challenge.response(to: request)
        }
    }

    private func authenticate(_ request: Request) throws -> Authentication {
        // A browser keeps a password that was typed into its own box, and adds it to requests of any page.
        guard
            !request.fields.contains(.authorization) || RequestOrigin.isSafe(request)
                || RequestOrigin(request) != .other
        else { throw RequestOrigin.crossSiteRequest }
        for authenticator in authenticators {
            let authentication = try authenticator.authenticate(request)
            if case .notMine = authentication { continue }
            return authentication
        }
        return .notMine
    }
}
