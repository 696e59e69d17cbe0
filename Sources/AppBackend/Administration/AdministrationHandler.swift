// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes

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
                .forbidden, "To administer, log in at this site's page: a password or a token is not enough here.")
        }
        // Web servers compare paths with regard to case, and may keep this one to some networks.
        guard request.http.path.hasPrefix(Self.prefix) else { throw RoutingError.notFound }
        guard RequestOrigin(request.http) == .own else { throw RequestOrigin.crossSiteRequest }
        guard policy.rights(of: request.user).mayAdminister else {
            throw Problem(.forbidden, "You may not administer: none of your roles lets you (roles.administer).")
        }
        return try inner.respond(to: request)
    }
}
