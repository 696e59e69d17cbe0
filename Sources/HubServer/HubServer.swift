// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub

/// The REST face of a hub: Azure's language, answered from a `ServableHub` in this process, for clients of any kind.
///
/// It is as strict as Azure: no operation without a signature that grants it.
package struct HubServer: Responder {
    /// What limits the holders of keys, and whom they reach.
    package struct Options: Sendable {
        /// Whether the hub's sends reach the devices of the backend's users, too. Then registrations must not have the
        /// tags that the backend alone gives, and a send to such a tag needs Manage.
        package var isShared = false
        /// How many registrations a policy may write a minute, and at once; 0: without a limit.
        package var registrationsPerMinute = 0

        package init() {}
    }

    /// Lines of the log about signatures that are refused for one reason, a minute: anybody can cause them.
    private static let refusalsPerMinute = 30

    private let authorizer: RequestAuthorizer
    private let router: Router<RequestAction>
    private let report: @Sendable (_ cause: String, _ trackingID: String) -> Void
    private let onRefused: @Sendable (_ reason: String, _ trackingID: String) -> Void
    private let refusals: RateMeter

    /// - Parameters:
    ///   - name: the hub's name, the first segment of every path; compared without case.
    ///   - keys: who may do what.
    ///   - hosts: names by which clients dial this hub, without ports; tokens for others are refused.
    ///   - now: seconds since 1970.
    ///   - report: hears why a request could not be done where that is not its client's fault: the client reads less. It
    ///     names calls, files and codes, never content.
    ///   - onRefused: hears why a signature is refused, of each reason some times a minute.
    ///   - clock: one that is not set.
    package init(
        _ hub: any ServableHub, name: String, keys: [SharedAccessKey], hosts: [String],
        options: Options = Options(), now: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (_ cause: String, _ trackingID: String) -> Void = { _, _ in },
        onRefused: @escaping @Sendable (_ reason: String, _ trackingID: String) -> Void = { _, _ in },
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        let authorizer = RequestAuthorizer(
            hub: name, verifier: SharedAccessSignature.Verifier(keys: keys, hosts: hosts),
            defaultHost: hosts.first ?? "localhost", now: now)
        self.authorizer = authorizer
        (self.report, self.onRefused) = (report, onRefused)
        refusals = RateMeter(perMinute: Self.refusalsPerMinute, clock: clock)
        let writes = RateMeter(perMinute: options.registrationsPerMinute, clock: clock)
        let routes =
            RegistrationRoutes(hub: hub, isShared: options.isShared, writes: writes).routes
            + ListRoutes(hub: hub).routes + MessageRoutes(hub: hub, isShared: options.isShared).routes
            + InstallationRoutes(hub: hub, isShared: options.isShared, writes: writes).routes
            + ManagementRoutes(name: name).routes
        router = Router(
            routes.map { route in
                Route(route.method, route.pattern) { request, parameters in
                    try route.operation(authorizer.authorize(request, for: route), parameters)
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
            if let refusal = fault.refusal?.words, refusals.take(refusal) == nil { onRefused(refusal, trackingID) }
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
            _ = try authorizer.authorize(request)
            throw error
        }
    }
}
