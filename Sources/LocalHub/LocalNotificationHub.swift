// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Store

/// A notification hub of one's own: Azure's REST language, answered on this host from a `HubStore`.
///
/// It is a `Responder`, so that a `NotificationHubClient` in this process can call it directly, and so that it can be
/// served to clients of any kind. It is as strict as Azure: no operation without a signature that grants it.
package struct LocalNotificationHub: RoutedResponder {
    private let gate: Gate
    private let router: Router
    private let report: @Sendable (_ cause: String, _ trackingID: String) -> Void

    /// - Parameters:
    ///   - name: the hub's name, the first segment of every path; compared without case.
    ///   - keys: who may do what.
    ///   - hosts: names by which clients dial this hub, without ports; tokens for others are refused.
    ///   - courier: delivers what is sent to the platforms that it has drivers for, from the same store; who makes it
    ///     runs it. What is sent to others is recorded as `Skipped`.
    ///   - now: seconds since 1970.
    ///   - onUnreadable: hears, once of each, of registrations in the store that cannot be read; lists and sends pass
    ///     them over.
    ///   - report: hears why a request could not be done where that is not its client's fault: the client reads less. It
    ///     names calls, files and codes, never content.
    package init(
        name: String, keys: [SharedAccessKey], hosts: [String], store: any HubStore,
        courier: Courier? = nil, now: @escaping @Sendable () -> Int64,
        onUnreadable: @escaping @Sendable (StoreError) -> Void = { _ in },
        report: @escaping @Sendable (_ cause: String, _ trackingID: String) -> Void = { _, _ in }
    ) {
        let gate = Gate(
            hub: name, verifier: SharedAccessSignature.Verifier(keys: keys, hosts: hosts),
            defaultHost: hosts.first ?? "localhost", now: now)
        let reader = RegistrationReader(report: onUnreadable)
        let routes =
            RegistrationOperations(store: store, reader: reader).routes
            + MessageOperations(store: store, reader: reader, courier: courier).routes
        self.gate = gate
        self.report = report
        router = Router(
            routes.map { route in
                Route(route.method, route.pattern) { request, parameters in
                    try route.operation(gate.admit(request, needs: route.needs), parameters)
                }
            })
    }

    /// Never throws: what goes wrong is an answer, with the request's tracking id.
    package func respond(to request: Request) -> Response {
        let trackingID = HubAnswer.trackingID(of: request)
        var response: Response
        do {
            response = try answer(request)
        } catch {
            let refusal = HubRefusal(mapping: error)
            if let cause = refusal.cause { report(cause, trackingID) }
            response = HubAnswer.refusal(refusal, trackingID: trackingID, now: gate.now())
        }
        response.fields[.trackingID] = trackingID
        return response
    }

    package func route(of request: Request) -> String? {
        router.route(of: request)
    }

    /// Every route passes the gate, and what is no route passes it as well: who may not enter learns nothing of what
    /// there is.
    private func answer(_ request: Request) throws -> Response {
        do {
            return try router.respond(to: request)
        } catch let error as RoutingError {
            _ = try gate.admit(request, needs: [])
            throw error
        }
    }
}
