// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Logging
import NotificationHub
import Store
import Text

/// What an administrator does at the page, as the operator does by commands. `AdministrationHandler` decides who may.
struct AdministrationController: Sendable {
    let administration: UserAdministration
    let upkeep: UserUpkeep
    /// Checks an administrator's password, and counts wrong ones as it does at a log-in.
    let authenticator: any PasswordAuthenticator
    let status: StatusReport
    let findings: @Sendable () -> SiteFindings
    let history: MessageHistory
    let hub: any Hub
    let logger: Logger

    var routes: [Route<UserAction>] {
        [
            Route(.get, Path.admin + "/users") { request, _ in try list(request) },
            Route(.post, Path.admin + "/users") { request, _ in try add(request) },
            Route(.get, Path.admin + "/users/{name}") { _, parameters in try show(parameters["name"]) },
            Route(.delete, Path.admin + "/users/{name}") { request, parameters in
                try remove(request, parameters["name"])
            },
            Route(.post, Path.admin + "/users/{name}/disable") { request, parameters in
                try disable(request, parameters["name"])
            },
            Route(.post, Path.admin + "/users/{name}/enable") { request, parameters in
                try enable(request, parameters["name"])
            },
            Route(.delete, Path.admin + "/users/{name}/devices/{id}") { request, parameters in
                try removeDevice(request, parameters["name"], parameters["id"])
            },
            Route(.delete, Path.admin + "/users/{name}/sessions") { request, parameters in
                try endSessions(request, parameters["name"])
            },
            Route(.delete, Path.admin + "/users/{name}/sessions/{id}") { request, parameters in
                try endSession(request, parameters["name"], parameters["id"])
            },
            Route(.get, Path.admin + "/messages") { request, _ in try messages(request) },
            Route(.get, Path.admin + "/messages/scheduled") { request, _ in try waiting(request) },
            Route(.delete, Path.admin + "/messages/scheduled/{id}") { request, parameters in
                try cancel(request, parameters["id"])
            },
            Route(.get, Path.admin + "/messages/{id}") { request, parameters in
                try message(request, parameters["id"])
            },
            Route(.get, Path.admin + "/status") { _, _ in Self.answer(status.json) },
            Route(.get, Path.admin + "/findings") { _, _ in Self.answer(findings().json) },
        ]
    }

    static func answer(_ json: JSONWriter) -> Response { .unstoredJSON(json.bytes) }

    /// Checks `{"Password":"…"}`, the administrator's own, before anything is changed: a page that was left open, or a cookie that
    /// was stolen, is not enough to end something for good, or to give a user a right that outlives the cookie.
    /// - Throws: `Problem` 400, 403, 415, 429, 503; `StoreError`; `Postponed`: nothing has been done by then.
    func requirePassword(_ request: UserRequest) throws {
        try request.http.requireJSON()
        let password = try Fields(body: request.body, known: ["Password"]).string("Password")
        _ = try request.verify(password, by: authenticator)
    }

    /// - Throws: `Problem` 403, when the administrator is the user.
    func refuseSelf(_ request: UserRequest, _ user: User) throws(Problem) {
        guard !user.owner.hasSameBytes(as: request.user.owner) else {
            throw Problem(.changeNotAllowed, "You cannot disable or remove yourself: another administrator can.")
        }
    }

    /// Notes who has changed what.
    func note(_ change: Logger.Message, _ request: UserRequest, of user: String) {
        logger.notice(
            change, metadata: ["request": "\(request.id)", "administrator": "\(request.user.name)", "user": "\(user)"])
    }
}
