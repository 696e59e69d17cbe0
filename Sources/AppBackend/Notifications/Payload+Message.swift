// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import JSON
import NotificationHub
import Text
import XML

/// A message object in each platform's own form; docs/reference/message-fields.md has the table.
struct MessagePayload {
    var notification: HubNotification
    /// The members that the platform cannot express.
    var ignored: [PushMessage.Member]

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - sender: travels as `sender`, so that an app can tell whose words a title is.
    ///   - inboxID: of what was kept of it.
    ///   - messageID: by which an app says that it was opened.
    ///   - badge: where the message has none.
    /// - Returns: nil, when the platform can express nothing of it.
    init?(
        _ message: PushMessage, from sender: String, to platform: Platform, inboxID: Int32? = nil, messageID: String,
        badge: Int? = nil, now: Int64
    ) {
        var shown = message
        shown.badge = message.badge ?? badge
        let form = MessageForm(message: shown, sender: sender, inboxID: inboxID, messageID: messageID, now: now)
        var ignored: Set<PushMessage.Member>
        switch platform {
        case .apns: (notification, ignored) = (form.apns, form.ignoredByAPNs)
        case .fcm: (notification, ignored) = (form.fcm, form.ignoredByFCM)
        case .wns: (notification, ignored) = (form.wns, form.ignoredByWNS)
        case .browser:
            // A browser demands that each push is shown.
            if message.isSilent { return nil }
            (notification, ignored) = (form.browser, form.ignoredByBrowsers)
        case .gcm, .mpns, .adm, .baidu: return nil
        }
        self.ignored = ignored.isEmpty ? [] : message.members.filter(ignored.contains)
    }
}

private struct MessageForm {
    let message: PushMessage
    let sender: String
    let inboxID: Int32?
    let messageID: String
    let now: Int64

    private var title: String { message.title ?? "From \(sender)" }

    private var isHigh: Bool {
        message.priority.map { $0 == .high } ?? !message.isSilent
    }

    /// Whose it is, what it opens, and what the sender gave.
    private func writeData(_ json: inout JSONWriter) {
        json.member("sender", sender)
        json.member(inboxID: inboxID)
        json.member("messageId", messageID)
        if let link = message.link { json.member("link", link) }
        json.members(message.data)
    }

    /// A background push has priority 5; APNs refuses it with another.
    var ignoredByAPNs: Set<PushMessage.Member> { message.isSilent && isHigh ? [.priority] : [] }

    var apns: HubNotification {
        let body = Payload.object { json in
            json.member("aps") { aps(&$0) }
            if let image = message.image { json.member("image", image) }
            writeData(&json)
        }
        var headers = [
            PushHeader("apns-push-type", message.isSilent ? "background" : "alert"),
            PushHeader("apns-priority", isHigh && !message.isSilent ? "10" : "5"),
        ]
        if let seconds = message.timeToLive {
            headers.append(PushHeader("apns-expiration", String(seconds == 0 ? 0 : now + Int64(seconds))))
        }
        if let id = message.collapseID { headers.append(PushHeader("apns-collapse-id", id)) }
        return .apns(json: body, headers: headers)
    }

    private func aps(_ json: inout JSONWriter) {
        guard !message.isSilent else { return json.member("content-available", 1) }
        json.member("alert") { alert in
            alert.member("title", title)
            if let body = message.body { alert.member("body", body) }
        }
        if let sound = message.sound { json.member("sound", sound) }
        if let badge = message.badge { json.member("badge", badge) }
        if let category = message.category { json.member("category", category) }
        if let thread = message.thread { json.member("thread-id", thread) }
        // The app's service extension fetches the picture.
        if message.image != nil { json.member("mutable-content", 1) }
    }

    /// FCM takes a count of 0 for none.
    var ignoredByFCM: Set<PushMessage.Member> { message.badge == 0 ? [.thread, .badge] : [.thread] }

    var fcm: HubNotification {
        .fcm(
            json: Payload.object { json in
                json.member("message") { json in
                    if !message.isSilent {
                        json.member("notification") { shown in
                            shown.member("title", title)
                            if let body = message.body { shown.member("body", body) }
                            if let image = message.image { shown.member("image", image) }
                        }
                    }
                    json.member("data", writeData)
                    json.member("android", writeAndroid)
                }
            })
    }

    private func writeAndroid(_ json: inout JSONWriter) {
        json.member("priority", isHigh ? "high" : "normal")
        if let seconds = message.timeToLive { json.member("ttl", "\(seconds)s") }
        if let id = message.collapseID { json.member("collapse_key", id) }
        let badge = message.badge == 0 ? nil : message.badge
        guard message.sound ?? message.category != nil || badge != nil else { return }
        json.member("notification") { shown in
            if let sound = message.sound { shown.member("sound", sound) }
            if let category = message.category { shown.member("click_action", category) }
            if let badge { shown.member("notification_count", badge) }
        }
    }

    /// What WNS has no header for, or no room in its own.
    var ignoredByWNS: Set<PushMessage.Member> {
        var ignored: Set<PushMessage.Member> = [.sound, .badge, .category, .priority]
        if !message.isSilent { ignored.insert(.data) }
        if message.collapseID != nil, windowsName(message.collapseID) == nil { ignored.insert(.collapseID) }
        if message.thread != nil, windowsName(message.thread) == nil { ignored.insert(.thread) }
        if message.timeToLive == 0 { ignored.insert(.timeToLive) }
        return ignored
    }

    var wns: HubNotification {
        var notification = message.isSilent ? .wnsRaw(Payload.object(writeData)) : HubNotification.wnsToast(xml: toast)
        if let seconds = message.timeToLive, seconds > 0 {
            notification.headers.append(PushHeader("X-WNS-TTL", String(seconds)))
        }
        if !message.isSilent {
            if let tag = windowsName(message.collapseID) { notification.headers.append(PushHeader("X-WNS-Tag", tag)) }
            if let group = windowsName(message.thread) { notification.headers.append(PushHeader("X-WNS-Group", group)) }
        }
        return notification
    }

    /// As WNS takes tags and groups: up to 16 letters and digits.
    private func windowsName(_ text: String?) -> String? {
        guard let text, text.utf8.count <= 16, text.utf8.allSatisfy(ASCII.isAlphanumeric) else { return nil }
        return text
    }

    private var toast: [UInt8] {
        var xml = XMLWriter()
        let launch: KeyValuePairs<String, String> = if let link = message.link { ["launch": link] } else { [:] }
        xml.element("toast", attributes: launch) { xml in
            xml.element("visual") { xml in
                xml.element("binding", attributes: ["template": "ToastGeneric"]) { xml in
                    xml.element("text", title)
                    if let body = message.body { xml.element("text", body) }
                    if let image = message.image { xml.element("image", attributes: ["src": image]) { _ in } }
                }
            }
        }
        return xml.bytes
    }

    var ignoredByBrowsers: Set<PushMessage.Member> {
        var ignored: Set<PushMessage.Member> = [.sound, .category, .thread]
        if message.collapseID != nil, topic == nil { ignored.insert(.collapseID) }
        if message.link != nil, webLink == nil { ignored.insert(.link) }
        return ignored
    }

    /// What a page may open.
    private var webLink: String? {
        message.link.flatMap { $0.lowercased().hasPrefix("https://") ? $0 : nil }
    }

    /// RFC 8030 section 5.4.
    private var topic: String? {
        guard let id = message.collapseID, id.utf8.count <= 32, id.utf8.allSatisfy(ASCII.isURLSafe) else { return nil }
        return id
    }

    var browser: HubNotification {
        var notification = HubNotification.browser(
            json: Payload.object { json in
                json.member("title", title)
                if let body = message.body { json.member("body", body) }
                json.member("sender", sender)
                json.member(inboxID: inboxID)
                json.member("messageId", messageID)
                if let link = webLink { json.member("link", link) }
                if let image = message.image { json.member("image", image) }
                if let badge = message.badge { json.member("badge", badge) }
                if !message.data.isEmpty { json.member("data") { $0.members(message.data) } }
            })
        notification.headers.append(PushHeader("Urgency", isHigh ? "high" : "normal"))
        if let seconds = message.timeToLive { notification.headers.append(PushHeader("TTL", String(seconds))) }
        if let topic { notification.headers.append(PushHeader("Topic", topic)) }
        return notification
    }
}
