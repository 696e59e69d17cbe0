// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// What a sender posts to `/api/notifications` instead of a string: `{"To":"bob","Title":"…","Body":"…"}`.
///
/// Each platform shows what it can express of it; docs/reference/message-fields.md has the table. What is nil or empty is left to the
/// platform.
public struct PushMessage: Equatable, Sendable {
    /// Whether a telephone that sleeps is woken for it.
    public enum Priority: String, CaseIterable, Sendable {
        case normal, high
    }

    /// Whom it is for.
    public var to: Recipients
    /// nil: `From <sender>`.
    public var title: String?
    /// The text below the title.
    public var body: String?
    /// For the app, not shown.
    public var data: [String: String]
    /// What opens when the notification is chosen: a URL with a scheme, `https://…` or the app's own.
    public var link: String?
    /// Of a picture: an `https` URL.
    public var image: String?
    /// The name of a sound that the app brings, or `default`.
    public var sound: String?
    /// The number at the app's icon; 0 takes it away.
    public var badge: Int?
    /// Names the buttons that the app has registered.
    public var category: String?
    /// Messages of one thread are shown together.
    public var thread: String?
    /// nil: `high` for what is shown, `normal` for what is silent.
    public var priority: Priority?
    /// For how long the push service keeps it for a device that is away, in seconds; 0: it tries once.
    public var timeToLive: Int?
    /// A later message with the same one takes the place of this.
    public var collapseID: String?
    /// Whether only an id travels and the text is fetched: Title and Body alone can be kept so.
    public var isSecure: Bool
    /// Whether it wakes the app and shows nothing.
    public var isSilent: Bool
    /// `apns`, `fcm`, `wns`, `browser`; empty: all that the backend delivers to.
    public var platforms: [String]
    /// The registration id of the sender's own device that does not get it, because it is sent from there; nil: all get it.
    public var fromDevice: String?
    /// When the backend sends it, in UTC, in the next seven days: `2026-11-24T08:00:00Z`; nil: at once.
    public var sendAt: String?

    /// A message that is checked where it is received.
    public init(
        to: Recipients, title: String? = nil, body: String? = nil, data: [String: String] = [:], link: String? = nil,
        image: String? = nil, sound: String? = nil, badge: Int? = nil, category: String? = nil, thread: String? = nil,
        priority: Priority? = nil, timeToLive: Int? = nil, collapseID: String? = nil, isSecure: Bool = false,
        isSilent: Bool = false, platforms: [String] = [], fromDevice: String? = nil, sendAt: String? = nil
    ) {
        self.to = to
        (self.title, self.body, self.data) = (title, body, data)
        (self.link, self.image, self.sound, self.badge) = (link, image, sound, badge)
        (self.category, self.thread) = (category, thread)
        (self.priority, self.timeToLive, self.collapseID) = (priority, timeToLive, collapseID)
        (self.isSecure, self.isSilent) = (isSecure, isSilent)
        (self.platforms, self.fromDevice, self.sendAt) = (platforms, fromDevice, sendAt)
    }

    /// As it crosses the wire.
    public var json: [UInt8] {
        JSONWriter.object { json in
            json.name(Member.to.rawValue)
            to.write(to: &json)
            for (member, text) in texts { if let text { json.member(member.rawValue, text) } }
            if !data.isEmpty { json.member("Data") { $0.members(data) } }
            if let badge { json.member("Badge", badge) }
            if let timeToLive { json.member("TimeToLive", timeToLive) }
            if isSecure { json.member("Secure", true) }
            if isSilent { json.member("Silent", true) }
            if !platforms.isEmpty { json.member("Platforms", platforms) }
        }.bytes
    }

    private var texts: [(Member, String?)] {
        [
            (.title, title), (.body, body), (.link, link), (.image, image), (.sound, sound), (.category, category),
            (.thread, thread), (.priority, priority?.rawValue), (.collapseID, collapseID), (.fromDevice, fromDevice),
            (.sendAt, sendAt),
        ]
    }

    /// The members that a message may have, as they are spelled in JSON.
    public enum Member: String, CaseIterable, Sendable {
        case to = "To"
        case title = "Title"
        case body = "Body"
        case data = "Data"
        case link = "Link"
        case image = "Image"
        case sound = "Sound"
        case badge = "Badge"
        case category = "Category"
        case thread = "Thread"
        case priority = "Priority"
        case timeToLive = "TimeToLive"
        case collapseID = "CollapseId"
        case secure = "Secure"
        case silent = "Silent"
        case platforms = "Platforms"
        case fromDevice = "FromDevice"
        case sendAt = "SendAt"
    }

    /// The members that say something here, in the order of `Member`.
    public var members: [Member] {
        let texts = Set(texts.filter { $0.1 != nil }.map(\.0))
        return Member.allCases.filter { member in
            switch member {
            case .to: true
            case .data: !data.isEmpty
            case .badge: badge != nil
            case .timeToLive: timeToLive != nil
            case .secure: isSecure
            case .silent: isSilent
            case .platforms: !platforms.isEmpty
            default: texts.contains(member)
            }
        }
    }
}
