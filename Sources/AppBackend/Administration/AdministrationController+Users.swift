// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Text

/// `GET /api/admin/users` and `GET /api/admin/users/{name}`
extension AdministrationController {
    /// The users in the order of their names, those behind `after`, whose names begin with `name`.
    func list(_ request: UserRequest) throws -> Response {
        let query = try Query(request.query)
        let limit = try ListQuery.limit(query)
        let (prefix, after) = (query["name"]?.lowercased() ?? "", query["after"])
        let users = try administration.store.users().lazy
            .filter { user in (after.map { $0 < user.name } ?? true) && user.name.hasPrefix(prefix) }
        let json = try JSONWriter.array(users.prefix(limit)) { user, json in
            let (devices, sessions) = (try devices(of: user), try sessions(of: user))
            user.writeMembers(devices, sessions, to: &json)
        }
        return Self.answer(json)
    }

    /// One user, with devices and sessions.
    func show(_ name: String) throws -> Response { try answer(try existing(name)) }

    /// - Throws: `AdministrationError.noUser`, also for what is no name; `StoreError`.
    func existing(_ name: String) throws -> User {
        do {
            return try administration.existing(name)
        } catch AdministrationError.badName {
            throw AdministrationError.noUser(name)
        }
    }

    func answer(_ user: User) throws -> Response {
        let (devices, sessions) = (try devices(of: user), try sessions(of: user))
        let json = JSONWriter.object { json in
            user.writeMembers(devices, sessions, to: &json)
            json.member("Devices", devices) { $0.writeMembers(to: &$1) }
            json.member("Sessions", sessions) { $0.writeMembers(to: &$1) }
        }
        return Self.answer(json)
    }

    /// Without ids that were handed out and never used.
    private func devices(of user: User) throws(StoreError) -> [DeviceRecord] {
        try administration.store.devices(owner: user.owner).filter { !$0.platform.isEmpty }
    }

    private func sessions(of user: User) throws(StoreError) -> [Session] {
        try administration.store.sessions(owner: user.owner, now: administration.now())
    }
}

extension User {
    fileprivate func writeMembers(_ devices: [DeviceRecord], _ sessions: [Session], to json: inout JSONWriter) {
        json.member("Name", name)
        json.member("Roles", roles)
        json.member("SecureOnly", isSecureOnly)
        json.member("HasPassword", !passwordHash.isEmpty)
        if let disabledAt { json.member("DisabledAt", disabledAt.text) }
        if let expiresAt { json.member("ExpiresAt", expiresAt.text) }
        if let lastSeenAt { json.member("LastSeenAt", lastSeenAt.text) }
        json.member("DeviceCount", devices.count(where: \.isLive))
        json.member("SessionCount", sessions.count)
    }
}
