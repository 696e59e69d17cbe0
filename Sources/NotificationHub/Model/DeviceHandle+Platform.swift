// SPDX-License-Identifier: Apache-2.0

extension DeviceHandle {
    /// A handle of a platform that is known at run time only.
    /// - Parameters:
    ///   - text: token, id or URI; of Baidu the channel id, of a browser the endpoint.
    ///   - baiduUser: for Baidu only, as `p256dh` and `auth` are for browsers only.
    /// - Throws: `HandleError`, as the platform's own factory does.
    package init(
        _ platform: Platform, _ text: String, baiduUser: String = "", p256dh: String = "", auth: String = ""
    ) throws(HandleError) {
        self =
            switch platform {
            case .apns: try .apns(text)
            case .fcm: try .fcm(text)
            case .gcm: try .gcm(text)
            case .wns: try .wns(text)
            case .mpns: try .mpns(text)
            case .adm: try .adm(text)
            case .baidu: try .baidu(userID: baiduUser, channelID: text)
            case .browser: try .browser(endpoint: text, p256dh: p256dh, auth: auth)
            }
    }
}
