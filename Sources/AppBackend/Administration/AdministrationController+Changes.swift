// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store

/// What changes users. All of it needs the administrator's password.
extension AdministrationController {
    /// The administrator's own password, beside that of the new user.
    private static let ownPassword = "AdministratorPassword"

    /// `POST /api/admin/users`: `{"UserName":"carol","Password":"…","Roles":["editor"],"AdministratorPassword":"…"}`
    /// - Throws: `Problem` 403 for a role that lets its users administer: a cookie that was stolen must not make an
    ///   administrator whose password the thief knows.
    func add(_ request: UserRequest) throws -> Response {
        try request.http.requireJSON()
        let fields = try Fields(body: request.body, known: ["UserName", "Password", "Roles", Self.ownPassword])
        let (name, password) = (try fields.string("UserName"), try fields.string("Password"))
        let roles = try fields.strings("Roles")
        guard !administration.roles.contains(where: { $0.administers && roles.contains($0.name) }) else {
            throw Problem(
                .changeNotAllowed,
                "A role that lets its users administer is given by command: app-backend user change.",
                field: "Roles")
        }
        // Neither a hash for nothing, nor one for a name that is no name.
        try administration.check(roles)
        let checked = try UserAdministration.checked(name)
        guard try administration.store.user(checked) == nil else { throw AdministrationError.isThere(checked) }
        // A password would let its owner in as a person who is known already, with all that is theirs.
        let isKnown = try administration.store.userRecord(checked)?.keepsData == true
        guard !isKnown, !administration.hasIssuer(checked) else {
            throw Problem(
                .userExists, "A user of that name is known here already: app-backend user add can add them.",
                field: "UserName")
        }
        try UserAdministration.check(chosen: password)
        _ = try request.verify(try fields.string(Self.ownPassword), in: Self.ownPassword, by: authenticator)
        let added = try administration.add(
            checked, passwordHash: try UserAdministration.hash(password), roles: roles)
        note("a user was added", request, of: added)
        return try answer(try administration.existing(added))
    }

    /// `POST /api/admin/users/{name}/disable`: `{"Password":"…"}`
    func disable(_ request: UserRequest, _ name: String) throws -> Response {
        let user = try existing(name)
        try refuseSelf(request, user)
        try requirePassword(request)
        _ = try administration.disable(user.name)
        note("a user was disabled", request, of: user.name)
        return try answer(try existing(user.name))
    }

    /// `POST /api/admin/users/{name}/enable`: `{"Password":"…"}`
    func enable(_ request: UserRequest, _ name: String) throws -> Response {
        let found = try existing(name)
        try requirePassword(request)
        let user = try administration.enable(found.name)
        note("a user was enabled", request, of: user.name)
        return try answer(try existing(user.name))
    }

    /// `DELETE /api/admin/users/{name}`: `{"Password":"…"}`
    func remove(_ request: UserRequest, _ name: String) throws -> Response {
        let user = try existing(name)
        try refuseSelf(request, user)
        try requirePassword(request)
        let remains = try administration.remove(user.name, by: upkeep)
        note("a user was removed", request, of: user.name)
        return Self.answer(remains)
    }

    /// `DELETE /api/admin/users/{name}/devices/{id}`: `{"Password":"…"}`
    func removeDevice(_ request: UserRequest, _ name: String, _ id: String) throws -> Response {
        let user = try existing(name)
        try requirePassword(request)
        let remains = try administration.removeDevice(id, of: user.name, by: upkeep)
        note("a device was removed", request, of: user.name)
        return Self.answer(remains)
    }

    /// `DELETE /api/admin/users/{name}/sessions`: `{"Password":"…"}`
    func endSessions(_ request: UserRequest, _ name: String) throws -> Response {
        let user = try existing(name)
        try requirePassword(request)
        var remains = UserRemains()
        remains.sessions = try administration.endSessions(of: user)
        note("all sessions of a user were ended", request, of: user.name)
        return Self.answer(remains)
    }

    /// `DELETE /api/admin/users/{name}/sessions/{id}`: `{"Password":"…"}`
    func endSession(_ request: UserRequest, _ name: String, _ id: String) throws -> Response {
        let user = try existing(name)
        try requirePassword(request)
        try administration.endSession(id, of: user)
        note("a session was ended", request, of: user.name)
        var remains = UserRemains()
        remains.sessions = 1
        return Self.answer(remains)
    }

    /// What was removed. What the hub could not be told of is in `Waiting`; the service goes on with it.
    private static func answer(_ remains: UserRemains) -> Response {
        let json = JSONWriter.object { json in
            json.member("Devices", remains.devices)
            json.member("Sessions", remains.sessions)
            json.member("Tokens", remains.tokens)
            json.member("Secrets", remains.secrets)
            json.member("Waiting", remains.unreachable)
        }
        return answer(json)
    }
}
