// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Store

/// `POST /api/session` with Basic credentials or `{"UserName":"…","Password":"…"}`
extension SessionController {
    /// Begins a session, and ends the one that the request came with: a browser has one.
    ///
    /// Another site's page may not log a visitor in under a name of its own choice (they would leave their data there),
    /// and may not try passwords through its visitors.
    func create(_ request: Request) throws -> Response {
        try Self.refuseOtherSites(request)
        guard takesPasswords, let credentials = try credentials(request), !credentials.isAppToken else {
            return challenge.response(to: request, isLogIn: true)
        }
        // Read before the password is checked: when it changes in between, this session is not valid.
        let account = try UserName(credentials.name).flatMap { try authenticator.account(of: $0) }
        let user = try authenticator.authenticate(credentials, of: request)
        guard let user, let account, user.owner.hasSameBytes(as: account.principal.owner) else {
            return challenge.response(to: request, isLogIn: true)
        }
        try sessions.end(of: request)
        let (token, session) = try sessions.begin(for: account)
        var response = answer(session, of: user)
        response.fields[.setCookie] = SessionCookie.set(token, maximumAge: sessions.lifetime)
        return response
    }

    /// - Returns: nil, when there are none or they cannot be anybody's.
    /// - Throws: `Problem` 400 or 415, for a body that is no log-in.
    private func credentials(_ request: Request) throws(Problem) -> BasicCredentials? {
        if request.fields.contains(.authorization) { return BasicCredentials(fields: request.fields) }
        guard !request.body.isEmpty else { return nil }
        try request.requireJSON()
        let fields = try Fields(body: request.body, known: ["UserName", "Password"])
        return BasicCredentials(name: try fields.string("UserName"), password: try fields.string("Password"))
    }
}
