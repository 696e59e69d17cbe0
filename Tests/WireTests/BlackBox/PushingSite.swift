// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import JSON

/// A site whose built-in hub pushes to a service of the test's own.
protocol PushingSite: ServedSite {
    var pushes: PushSink { get }
}

extension PushingSite {
    /// The keys that RFC 8291 (appendix A) gives its browser.
    private static var browserKeys: DeviceRegistration.Keys {
        DeviceRegistration.Keys(
            p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            auth: "BTBZMqHH6r4Tts7J_aSIgg")
    }

    /// Registers a user's browser.
    /// - Returns: where it is pushed to.
    func registerBrowser(_ user: WireUser, tags: [String] = []) throws -> String {
        let endpoint = pushes.makeEndpoint()
        let answer = try call(.post, Path.register, as: user)
        guard answer.status == .ok, let id = try JSONValue(parsing: answer.body).string else { throw Problem(answer) }
        let body = DeviceRegistration(platform: "browser", handle: endpoint, tags: tags, keys: Self.browserKeys).json
        let put = try call(.put, "\(Path.register)/\(id)", as: user, body: String(decoding: body, as: UTF8.self))
        guard put.status == .ok else { throw Problem(put) }
        return endpoint
    }

    /// Sends a message to a user's browsers; throws unless it was taken.
    func push(_ text: String, from sender: WireUser, to recipient: WireUser) throws {
        let query = "pns=browser&to_tag=\(recipient.name)"
        let answer = try call(.post, Path.notifications, query: query, as: sender, body: "\"\(text)\"")
        guard answer.status == .ok, try SendOutcome(answer).isAccepted else { throw Problem(answer) }
    }
}
