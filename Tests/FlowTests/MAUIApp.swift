// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Testing

/// The app of the tutorial for .NET MAUI on a telephone: what it keeps, and its requests as it makes them.
final class MAUIApp {
    enum Kind: String, CaseIterable, Sendable {
        case android, ios
    }

    let kind: Kind
    private let site: TestSite
    private let key: String
    /// As Android and iOS name the device to the app.
    let installationID: String
    /// What the push service gave the app.
    private(set) var token: String
    /// In the app's secure storage.
    private var cached: (token: String, tags: [String])?
    /// What its requests were answered.
    private(set) var statuses: [Int] = []

    init(_ kind: Kind, on site: TestSite, key: String, installationID: String? = nil, token number: Int = 1) {
        (self.kind, self.site, self.key) = (kind, site, key)
        let own = [Kind.android: "9774d56d682e549c", .ios: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"]
        self.installationID = installationID ?? own[kind] ?? ""
        token = Self.token(kind, number)
    }

    /// The push service's token for the device; another number is another one.
    static func token(_ kind: Kind, _ number: Int) -> String {
        kind == .ios ? TestSite.token(number) : "dQw4:APA91b_token+\(number)"
    }

    /// The button: `RegisterDeviceAsync`.
    func register(tags: [String] = []) {
        let list = tags.map { "\"\($0)\"" }.joined(separator: ",")
        let platform = kind == .ios ? "apns" : "fcmv1"
        // System.Text.Json escapes what HTML could take for its own.
        let body =
            #"{"installationId":"\#(installationID)","platform":"\#(platform)","#
            + #""pushChannel":"\#(token.replacing("+", with: #"\u002B"#))","tags":[\#(list)]}"#
        guard send(.put, "/api/notifications/installations", body: body) == 200 else { return }
        cached = (token, tags)
    }

    /// `OnNewToken`, `RegisteredForRemoteNotifications`: `RefreshRegistrationAsync`.
    func receive(token number: Int) {
        token = Self.token(kind, number)
        guard let cached, cached.token != token else { return }
        register(tags: cached.tags)
    }

    /// The other button: `DeregisterDeviceAsync`.
    func deregister() {
        guard cached != nil else { return }
        if send(.delete, "/api/notifications/installations/\(installationID)") == 200 { cached = nil }
    }

    private func send(_ method: HTTPRequest.Method, _ path: String, body: String = "") -> Int {
        var fields: HTTPFields = [.accept: "application/json"]
        fields[named: "apikey"] = key
        let answer = site.call(method, path, body: body, contentType: "application/json; charset=utf-8", fields: fields)
        statuses.append(answer.status.code)
        return answer.status.code
    }
}

extension TestSite {
    /// Makes an app token.
    /// - Parameter wish: the body of the request for it.
    func appToken(_ wish: String = #"{"Scopes":["register","send"]}"#, of user: String = "alice") throws -> String {
        let answer = call(.post, "/api/tokens", as: user, body: wish)
        guard answer.status == .ok else { throw Problem(answer) }
        return try #require(try JSONValue(parsing: answer.body)["Token"]?.string)
    }

    /// A request by key, as the tutorial has the developer make it.
    func request(_ body: String, key: String, fields: HTTPFields = [:], on server: Backend? = nil) -> Response {
        var fields = fields
        fields[named: "apikey"] = key
        return call(.post, "/api/notifications/requests", body: body, fields: fields, on: server)
    }
}
