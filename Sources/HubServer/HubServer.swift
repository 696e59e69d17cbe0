// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub

/// The REST face of a hub: Azure's language, answered from a `ServableHub` in this process, for clients of any kind.
///
/// It is as strict as Azure: no operation without a signature that grants it.
package struct HubServer: Responder {
    private let authorizer: RequestAuthorizer
    private let router: Router<RequestAction>
    private let report: @Sendable (_ cause: String, _ trackingID: String) -> Void

    /// - Parameters:
    ///   - name: the hub's name, the first segment of every path; compared without case.
    ///   - keys: who may do what.
    ///   - hosts: names by which clients dial this hub, without ports; tokens for others are refused.
    ///   - now: seconds since 1970.
    ///   - report: hears why a request could not be done where that is not its client's fault: the client reads less. It
    ///     names calls, files and codes, never content.
    ///   - onDeleted: hears of each registration that a client has deleted.
    package init(
        _ hub: any ServableHub, name: String, keys: [SharedAccessKey], hosts: [String],
        now: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (_ cause: String, _ trackingID: String) -> Void = { _, _ in },
        onDeleted: @escaping @Sendable (RegistrationID) -> Void = { _ in }
    ) {
        let authorizer = RequestAuthorizer(
            hub: name, verifier: SharedAccessSignature.Verifier(keys: keys, hosts: hosts),
            defaultHost: hosts.first ?? "localhost", now: now)
        self.authorizer = authorizer
        self.report = report
        let routes =
            RegistrationRoutes(hub: hub, onDeleted: onDeleted).routes + ListRoutes(hub: hub).routes
            + MessageRoutes(hub: hub).routes
        router = Router(
            routes.map { route in
                Route(route.method, route.pattern) { request, parameters in
                    try route.operation(authorizer.authorize(request, needs: route.needs), parameters)
                }
            })
    }

    /// Never throws: what goes wrong is an answer, with the request's tracking id.
    package func respond(to request: Request) -> Response {
        let trackingID = HubResponse.trackingID(of: request)
        let route = router.match(request)
        var response: Response
        do {
            response = try answer(request, route)
        } catch {
            let fault = HubFault(mapping: error)
            if let cause = fault.cause { report(cause, trackingID) }
            response = HubResponse.fault(fault, trackingID: trackingID, now: authorizer.now())
        }
        response.route = route?.pattern
        response.fields[.trackingID] = trackingID
        return response
    }

    /// Every path is authorized, also one without a route: an unauthorized client does not learn which routes there are.
    private func answer(_ request: Request, _ route: RouteMatch<RequestAction>?) throws -> Response {
        do {
            guard let route else { throw RoutingError.notFound }
            return try route.respond(to: request)
        } catch let error as RoutingError {
            _ = try authorizer.authorize(request, needs: [])
            throw error
        }
    }
}
