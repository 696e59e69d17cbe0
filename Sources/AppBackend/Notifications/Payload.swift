// SPDX-License-Identifier: Apache-2.0
import JSON
import NotificationHub
import XML

/// The native payloads of the tutorial, one per platform, with sender and message encoded for the format: the
/// tutorial glues strings, so a `"` or a `<` in a message breaks or forges its payload.
enum Payload {
    /// `From <user>: <message>`, as each platform shows it.
    /// - Parameter inboxID: of what was kept of it.
    static func message(
        _ message: String, from sender: String, to platform: Platform, inboxID: Int32? = nil
    ) -> HubNotification? {
        let text = text(message, from: sender)
        switch platform {
        case .apns:
            return .apns(
                json: object {
                    $0.member("aps") { $0.member("alert", text) }
                    $0.member(inboxID: inboxID)
                })
        case .fcm:
            return .fcm(
                json: fcmMessage {
                    $0.member("message", text)
                    $0.member(inboxID: inboxID)
                })
        case .wns: return .wnsToast(xml: toast(text))
        case .browser:
            return .browser(
                json: object {
                    $0.member("title", "From \(sender)")
                    $0.member("body", message)
                    $0.member(inboxID: inboxID)
                })
        case .gcm, .mpns, .adm, .baidu: return nil
        }
    }

    /// Nothing but the names of a stored payload: `secureId` for the tutorials' clients, `secureToken` for new ones.
    static func secure(id: Int32, token: String, to platform: Platform, _ form: SecureForm) -> HubNotification? {
        switch platform {
        case .apns:
            return .apns(
                json: object { json in
                    json.member("aps") { aps(form, &$0) }
                    names(String(id), token, &json)
                },
                headers: form == .silent ? backgroundHeaders : alertHeaders)
        case .fcm: return .fcm(json: fcmMessage { names(String(id), token, &$0) })
        // A raw notification is its bytes alone, and the tutorial's client reads them as a number.
        case .wns: return .wnsRaw(Array(String(id).utf8))
        case .browser: return .browser(json: object { names(String(id), token, &$0) })
        case .gcm, .mpns, .adm, .baidu: return nil
        }
    }

    /// What an app needs to take away notifications that were read elsewhere, and to set its badge. A browser demands that each
    /// push is shown, so it gets none.
    static func inboxChange(_ ids: [Int32], unread: Int, to platform: Platform) -> HubNotification? {
        let name = "inbox"
        func write(_ json: inout JSONWriter) {
            json.member("inboxRead", ids.map { String($0) }.joined(separator: ","))
            json.member("inboxUnread", String(unread))
        }
        switch platform {
        case .apns:
            return .apns(
                json: object { json in
                    json.member("aps") { $0.member("content-available", 1) }
                    write(&json)
                },
                headers: backgroundHeaders + [PushHeader("apns-collapse-id", name)])
        case .fcm:
            return .fcm(
                json: object { json in
                    json.member("message") { json in
                        json.member("data", write)
                        json.member("android") { android in
                            android.member("priority", "normal")
                            android.member("collapse_key", name)
                        }
                    }
                })
        case .wns: return .wnsRaw(object(write))
        case .browser, .gcm, .mpns, .adm, .baidu: return nil
        }
    }

    private static func aps(_ form: SecureForm, _ json: inout JSONWriter) {
        if case .alert(let text, let key) = form {
            json.member("alert") { alert in
                // The body is for apps that do not have the key.
                alert.member("body", text)
                if let key { alert.member("loc-key", key) }
            }
            json.member("mutable-content", 1)
            json.member("sound", "default")
        }
        // Without an alert it is a background push.
        json.member("content-available", 1)
    }

    static func text(_ message: String, from sender: String) -> String { "From \(sender): \(message)" }

    /// Since iOS 13 Apple drops a background push that does not say so and ask for priority 5; 10 is an error.
    private static let backgroundHeaders = [
        PushHeader("apns-push-type", "background"), PushHeader("apns-priority", "5"),
    ]

    static let alertHeaders = [PushHeader("apns-push-type", "alert"), PushHeader("apns-priority", "10")]

    /// A message of data alone, which Android delivers to the app. Without a priority it waits until the device wakes.
    static func fcmMessage(_ data: (inout JSONWriter) -> Void) -> [UInt8] {
        object { json in
            json.member("message") { json in
                json.member("data", data)
                json.member("android") { $0.member("priority", "high") }
            }
        }
    }

    /// Toast schema of Windows 10 and later: `ToastGeneric`.
    /// - Parameter launch: what Windows hands to the app when the toast is chosen.
    static func toast(_ text: String, launch: String? = nil) -> [UInt8] {
        var xml = XMLWriter()
        let attributes: KeyValuePairs<String, String> = if let launch { ["launch": launch] } else { [:] }
        xml.element("toast", attributes: attributes) { xml in
            xml.element("visual") { xml in
                xml.element("binding", attributes: ["template": "ToastGeneric"]) { $0.element("text", text) }
            }
        }
        return xml.bytes
    }

    static func names(_ id: String, _ token: String, _ json: inout JSONWriter) {
        // A string, because FCM's data holds strings only and the tutorial's iOS client calls intValue on it.
        json.member("secureId", id)
        json.member("secureToken", token)
    }

    static func object(_ body: (inout JSONWriter) -> Void) -> [UInt8] { JSONWriter.object(body).bytes }
}

extension JSONWriter {
    /// By which an app marks a plain message as read in the inbox. A string, because FCM's data holds strings only.
    mutating func member(inboxID: Int32?) {
        if let inboxID { member("inboxId", String(inboxID)) }
    }
}
