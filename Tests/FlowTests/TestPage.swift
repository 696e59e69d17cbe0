// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Foundation
import HTTP
import HTTPTypes
import Logging
import Store
import Text

/// A page of the backend's own in a browser: keeps the cookie that it was given, and says what browsers say.
final class TestPage {
    /// `name=value`, as browsers send it.
    var cookie: String?
    private let responder: any Responder

    init(_ responder: any Responder, cookie: String? = nil) {
        self.responder = responder
        self.cookie = cookie
    }

    func call(_ method: HTTPRequest.Method, _ path: String, query: String = "", body: String = "") throws -> Response {
        var fields = HTTPFields(["Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"])
        if method != .get { fields[.origin] = "https://backend.test" }
        if !body.isEmpty { fields[.contentType] = "application/json" }
        fields[.cookie] = cookie
        let response = try responder.respond(
            to: Request(
                method: method, authority: "backend.test", path: path, query: query, fields: fields,
                body: Array(body.utf8), remoteAddress: "192.0.2.1", id: "page")
        ).withCode()
        if let given = response.fields[.setCookie] {
            cookie = given.contains("Max-Age=0;") ? nil : given.split(separator: ";").first.map(String.init)
        }
        return response
    }

    @discardableResult func logIn(_ user: String, password: String? = nil) throws -> Response {
        let body = #"{"UserName":"\#(user)","Password":"\#(password ?? "\(user)-secret")"}"#
        return try call(.post, "/api/session", body: body)
    }

    /// Whether a call succeeds that needs a logged-in user.
    var isKnown: Bool {
        get throws { try call(.get, "/api/register").status == .ok }
    }
}

extension HTTPFields {
    /// Fields by names that HTTPTypes has no constants for.
    init(_ fields: [String: String]) {
        self.init(
            fields.compactMap { name, value in HTTPField.Name(name).map { HTTPField(name: $0, value: value) } })
    }
}

extension TestSite {
    /// A page in which that user is logged in.
    func page(of user: String) throws -> TestPage {
        let page = TestPage(backend)
        try page.logIn(user)
        return page
    }

    /// Another process on the same store, behind the same web server.
    func neighbour(adjusting adjust: (inout Backend.Parts) -> Void = { _ in }) throws -> Backend {
        let store = try Self.openStore(folder)
        let now: @Sendable () -> Timestamp = { [clock] in Timestamp(seconds: clock.seconds) }
        var parts = Backend.Parts(
            store: store, notifications: Notifications(hub: hubClient, platforms: [.apns]),
            authenticator: UserAuthenticator(store: store, now: now), now: now,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        adjust(&parts)
        return Backend(parts)
    }
}
