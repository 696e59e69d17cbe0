// SPDX-License-Identifier: Apache-2.0
import JSON
import NotificationHub

/// For the devices of the older call. They registered a template, of which the hub makes each device's notification with
/// the properties of a send; a property that a send does not have is an empty text.
extension Payload {
    /// What a secure message shows, because a template's alert cannot be left out. It names neither text nor sender.
    static let secureText = "A secure message is waiting. Open the app to read it."

    /// The templates that the older call registers; `inAppMessage` is what its iOS client reads. The alert is cut, so that a
    /// message of which both hold the whole fits into what Apple takes.
    static func template(for platform: Platform) -> Template? {
        let (message, secureID, secureToken) = ("$(message)", "$(secureId)", "$(secureToken)")
        switch platform {
        case .apns:
            let body = object { json in
                json.member("aps") { json in
                    json.member("alert", ".(message, 200)")
                    json.member("content-available", 1)
                }
                json.member("inAppMessage", message)
                names(secureID, secureToken, &json)
            }
            // It has an alert as well, so it is no background push.
            return Template(body: String(decoding: body, as: UTF8.self), headers: alertHeaders)
        case .fcm:
            let body = fcmMessage { json in
                json.member("message", message)
                names(secureID, secureToken, &json)
            }
            return Template(body: String(decoding: body, as: UTF8.self))
        case .wns:
            return Template(
                body: String(decoding: toast(message, launch: secureID), as: UTF8.self),
                headers: [PushHeader("X-WNS-Type", "wns/toast")])
        case .gcm, .mpns, .adm, .baidu, .browser: return nil
        }
    }

    /// The properties of a plain message.
    static func templateMessage(_ message: String, from sender: String) -> HubNotification {
        .template(json: object { $0.member("message", text(message, from: sender)) })
    }

    /// The properties of a secure one: what to show, and the two names of what to fetch.
    static func templateSecure(id: Int32, token: String) -> HubNotification {
        .template(
            json: object { json in
                json.member("message", secureText)
                names(String(id), token, &json)
            })
    }
}
