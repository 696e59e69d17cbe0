// SPDX-License-Identifier: Apache-2.0

/// What a handle consists of in the XML of registrations and in the store, not checked.
package struct HandleParts {
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

extension HandleParts: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
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
