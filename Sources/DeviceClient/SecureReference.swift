// SPDX-License-Identifier: Apache-2.0
import JSON
import Text

/// What a secure push brings: which message to fetch, not the message.
public struct SecureReference: Equatable, Sendable {
    /// The tutorials' id, 1 ... 2^31 - 2.
    public let id: Int32
    /// The same message's name with 127 random bits; nil from a backend that sends none.
    public let token: String?

    /// Nil when the id is not one: 0 is what junk parses to, 2^31 - 1 is where parsers saturate.
    public init?(id: Int32, token: String? = nil) {
        guard id > 0, id < Int32.max else { return nil }
        self.id = id
        self.token = token.flatMap { Self.isToken($0) ? $0 : nil }
    }

    /// From `didReceiveRemoteNotification`'s dictionary, `{"aps":{"content-available":1},"secureId":"7"}`; nil when the
    /// push is not a secure one. A dictionary of FCM's data has the same keys.
    public init?(userInfo: [AnyHashable: Any]) {
        let value = userInfo["secureId"]
        guard let id = (value as? String).flatMap({ Int32($0) }) ?? (value as? Int).flatMap({ Int32(exactly: $0) })
        else { return nil }
        self.init(id: id, token: userInfo["secureToken"] as? String)
    }

    /// From the bytes of the JSON payload, as a service worker or a notification service extension has them; nil when
    /// the push is not a secure one.
    public init?(payload: some Sequence<UInt8>) {
        guard let document = try? JSONValue(parsing: [UInt8](payload)), let value = document["secureId"],
            let id = value.string.flatMap({ Int32($0) }) ?? value.integer.flatMap({ Int32(exactly: $0) })
        else { return nil }
        self.init(id: id, token: document["secureToken"]?.string)
    }

    /// From the body of a WNS raw notification, which is the id alone.
    public init?(rawBody text: String) {
        guard let id = Int32(text) else { return nil }
        self.init(id: id)
    }

    /// The path's last segment: the token where there is one.
    var segment: String { token ?? String(id) }

    /// Whether the text is 128 bits in base64url without padding.
    private static func isToken(_ text: String) -> Bool {
        text.utf8.count == 22 && text.utf8.allSatisfy(ASCII.isURLSafe)
    }
}
