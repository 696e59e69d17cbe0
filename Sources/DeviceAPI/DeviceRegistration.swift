// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// What a device sends to `PUT /api/register/{id}`: `{"Platform":"apns","Handle":"…","Tags":["…"]}`, and for a
/// browser `"Keys":{"p256dh":"…","auth":"…"}`. `"App":"…"` says which app the device is of.
public struct DeviceRegistration: Equatable, Sendable {
    /// `apns`, `fcm` (or `gcm`, its old name), `wns`, `mpns`, `browser`.
    public var platform: String
    /// Device token, registration token, channel URI, or a browser's endpoint.
    public var handle: String
    /// What the device wants to hear, besides what is sent to its user.
    public var tags: [String]
    /// A browser's public key and secret (base64url), from its `PushSubscription`.
    public var keys: Keys?
    /// The app, where the backend has several of the platform: its bundle id at Apple's, the id of its Firebase project,
    /// its client id or package SID at Microsoft's. Nil: the backend's default app.
    public var app: String?

    /// What a browser's push service does not know, so that it cannot read what it carries (RFC 8291).
    public struct Keys: Equatable, Sendable {
        /// The browser's public key: 65 bytes, base64url.
        public var p256dh: String
        /// The secret shared with the browser: 16 bytes, base64url.
        public var auth: String

        /// Keys as the browser gives them.
        public init(p256dh: String, auth: String) {
            self.p256dh = p256dh
            self.auth = auth
        }
    }

    /// A registration that is checked where it is received.
    public init(platform: String, handle: String, tags: [String] = [], keys: Keys? = nil, app: String? = nil) {
        self.platform = platform
        self.handle = handle
        self.tags = tags
        self.keys = keys
        self.app = app
    }

    /// - Throws: `Problem` 400, naming the field.
    public init(body: [UInt8]) throws(Problem) {
        let fields = try Fields(body: body, known: ["Platform", "Handle", "Tags", "Keys", "App"])
        platform = try fields.string("Platform")
        handle = try fields.string("Handle")
        tags = try fields.strings("Tags")
        app = try fields.optionalString("App")
        if let value = fields["Keys"] {
            let members = try Fields(value, field: "Keys")
            keys = Keys(p256dh: try members.string("p256dh"), auth: try members.string("auth"))
        }
    }

    /// As it crosses the wire.
    public var json: [UInt8] {
        JSONWriter.object { json in
            json.member("Platform", platform)
            json.member("Handle", handle)
            json.member("Tags", tags)
            if let app { json.member("App", app) }
            if let keys {
                json.member("Keys") { json in
                    json.member("p256dh", keys.p256dh)
                    json.member("auth", keys.auth)
                }
            }
        }.bytes
    }
}
