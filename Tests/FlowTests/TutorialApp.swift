// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import JSON
import Text

/// One of the tutorials' apps on a phone: what it keeps, and its requests as it makes them, step by step. It does not
/// use `DeviceClient`, which knows more.
final class TutorialApp {
    enum Kind: String, CaseIterable, Sendable {
        /// Keeps its id whatever it is answered.
        case ios
        /// Forget their id on 410, and ask for another one, once.
        case windows, android
    }

    let kind: Kind
    private let site: TestSite
    /// `RegistrationId` in the app's settings.
    var registrationID: String?
    /// What the requests of all log-ins were answered.
    private(set) var statuses: [Int] = []

    init(_ kind: Kind, on site: TestSite, registrationID: String? = nil) {
        self.kind = kind
        self.site = site
        self.registrationID = registrationID
    }

    /// What the button does behind the log-in: `registerWithDeviceToken`, `RegisterAsync`, `register`.
    /// - Returns: whether the app says "Registered successfully".
    func logIn(_ user: String, handle: String) throws -> Bool {
        for isRetry in [false, true] {
            guard let id = try retrieveOrRequestRegistrationID(user, handle) else { return false }
            let status = try upsert(id, user, handle)
            if status == 200 { return true }
            guard status == 410, !isRetry else { return false }
            if kind != .ios { registrationID = nil }
        }
        return false
    }

    private func retrieveOrRequestRegistrationID(_ user: String, _ handle: String) throws -> String? {
        if let registrationID { return registrationID }
        // The Windows app posts an empty text, and no handle.
        let query = kind == .windows ? "" : "handle=" + PercentEncoding.encode(handle)
        let response = site.call(.post, "/api/register", query: query, as: user)
        statuses.append(response.status.code)
        guard response.status == .ok else { return nil }
        // They take the quotation marks off without reading JSON.
        registrationID = String(String(decoding: response.body, as: UTF8.self).dropFirst().dropLast())
        return registrationID
    }

    private func upsert(_ id: String, _ user: String, _ handle: String) throws -> Int {
        let platform = [Kind.ios: "apns", .windows: "wns", .android: "gcm"][kind] ?? ""
        // As NSJSONWritingPrettyPrinted lays it out.
        let body = "{\n  \"Platform\" : \"\(platform)\",\n  \"Tags\" : [\n\n  ],\n  \"Handle\" : \"\(handle)\"\n}"
        let path = "/api/register/" + PercentEncoding.encode(id)
        let status = site.call(.put, path, as: user, body: body).status.code
        statuses.append(status)
        return status
    }

    /// The phone's handle at its push service; another number is another one.
    func handle(_ number: Int) -> String {
        switch kind {
        case .ios: TestSite.token(number)
        case .windows: "https://db5.notify.windows.com/?token=AwYA\(number)"
        case .android: "dQw4:APA91b_token-\(number)"
        }
    }
}
