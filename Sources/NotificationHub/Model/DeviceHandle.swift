// SPDX-License-Identifier: Apache-2.0
internal import Text

/// The address of one device at its push service. With it and the service's key one can push to the device, so it
/// prints its last characters only.
///
///     let handle = try DeviceHandle.apns("62bcd348…")
///     switch handle.value { case .apns(let token): …  default: … }
package struct DeviceHandle: Hashable, Sendable {
    /// A handle by kind, checked and in the form that is stored.
    package enum Value: Redacted, Hashable, Sendable {
        /// Hexadecimal, upper case.
        case apns(token: String)
        case fcm(token: String)
        case gcm(token: String)
        /// An `https` URI, normalised, as for `mpns` and `browser`.
        case wns(uri: String)
        case mpns(uri: String)
        case baidu(userID: String, channelID: String)
        case browser(BrowserSubscription)
        /// One text, of a platform that needs no case of its own.
        case other(Platform, text: String)
    }

    /// For code that writes the handle out or calls its service; it prints nothing of itself.
    package let value: Value

    private init(_ value: Value) {
        self.value = value
    }

    /// - Parameter token: hexadecimal of either case, an even number of digits; in angle brackets and with blanks, as iOS 12
    ///   and earlier describe it, too.
    /// - Throws: `HandleError`, as all that follow.
    package static func apns(_ token: String) throws(HandleError) -> DeviceHandle {
        DeviceHandle(.apns(token: try HandleRule.hexadecimal(token)))
    }

    /// - Parameter token: visible ASCII, kept as it is.
    package static func fcm(_ token: String) throws(HandleError) -> DeviceHandle {
        DeviceHandle(.fcm(token: try HandleRule.visible(token)))
    }

    /// - Parameter token: as for `fcm`.
    package static func gcm(_ token: String) throws(HandleError) -> DeviceHandle {
        DeviceHandle(.gcm(token: try HandleRule.visible(token)))
    }

    /// - Parameter uri: absolute, `https`; scheme, host and port are normalised, so that two spellings are one device.
    package static func wns(_ uri: String) throws(HandleError) -> DeviceHandle {
        DeviceHandle(.wns(uri: try HandleRule.channelURI(uri)))
    }

    /// - Parameter uri: as for `wns`.
    package static func mpns(_ uri: String) throws(HandleError) -> DeviceHandle {
        DeviceHandle(.mpns(uri: try HandleRule.channelURI(uri)))
    }

    /// - Parameter id: as `token` for `fcm`.
    package static func adm(_ id: String) throws(HandleError) -> DeviceHandle {
        DeviceHandle(.other(.adm, text: try HandleRule.visible(id)))
    }

    /// - Parameters: both as `token` for `fcm`.
    package static func baidu(userID: String, channelID: String) throws(HandleError) -> DeviceHandle {
        DeviceHandle(.baidu(userID: try HandleRule.visible(userID), channelID: try HandleRule.visible(channelID)))
    }

    /// - Parameters:
    ///   - p256dh: Base64 of the browser's public key, an uncompressed point of P-256.
    ///   - auth: Base64 of 16 bytes (RFC 8291 section 3.2).
    package static func browser(endpoint: String, p256dh: String, auth: String) throws(HandleError) -> DeviceHandle {
        DeviceHandle(.browser(try BrowserSubscription(endpoint: endpoint, p256dh: p256dh, auth: auth)))
    }

    /// The service whose handle it is.
    package var platform: Platform {
        switch value {
        case .apns: .apns
        case .fcm: .fcm
        case .gcm: .gcm
        case .wns: .wns
        case .mpns: .mpns
        case .baidu: .baidu
        case .browser: .browser
        case .other(let platform, _): platform
        }
    }
}

extension DeviceHandle: Redacted {
    /// How much of a handle may be shown, in characters; enough to tell a user's devices apart.
    package static let shownCharacters = 6

    /// The end of the handle, for people; nothing of a handle so short that the end would be most of it.
    package var suffix: String { Self.suffix(of: channel) }

    /// As `suffix`, of a channel.
    package static func suffix(of channel: String) -> String {
        let bytes = channel.utf8
        return bytes.count >= 4 * shownCharacters ? String(Substring(bytes.suffix(shownCharacters))) : ""
    }

    package var description: String { "\(platform.rawValue):…\(suffix)" }
}

/// What a handle consists of in the XML of registrations and in the store, not checked.
package struct HandleParts: Redacted {
    /// Token, id or URI; of Baidu the channel id, of a browser the endpoint.
    package var text: String
    package var baiduUser: String?
    /// Of browsers only, as `auth`.
    package var p256dh: String?
    package var auth: String?

    package init(_ text: String, baiduUser: String? = nil, p256dh: String? = nil, auth: String? = nil) {
        (self.text, self.baiduUser, self.p256dh, self.auth) = (text, baiduUser, p256dh, auth)
    }
}

extension DeviceHandle {
    /// A handle of a platform that is known at run time only.
    /// - Throws: `HandleError`, as the platform's own factory does.
    package init(_ platform: Platform, _ parts: HandleParts) throws(HandleError) {
        self = try platform.traits.handle(parts)
    }

    /// A handle that consists of one text.
    /// - Throws: `HandleError`, also where the platform's handles have further parts.
    package init(_ platform: Platform, _ text: String) throws(HandleError) {
        try self.init(platform, HandleParts(text))
    }

    /// What it consists of.
    package var parts: HandleParts {
        switch value {
        case .apns(let text), .fcm(let text), .gcm(let text), .wns(let text), .mpns(let text), .other(_, let text):
            HandleParts(text)
        case .baidu(let userID, let channelID): HandleParts(channelID, baiduUser: userID)
        case .browser(let subscription):
            HandleParts(subscription.endpoint, p256dh: subscription.p256dh, auth: subscription.auth)
        }
    }

    /// The handle as one text in the form that a hub compares and that `ChannelUri eq '…'` asks for.
    package var channel: String {
        let parts = parts
        return parts.baiduUser.map { "\($0)-\(parts.text)" } ?? parts.text
    }
}
