// SPDX-License-Identifier: Apache-2.0
import JSON
package import Store
internal import Text

/// Two records of a kind: one with a value in every field, and one with what its `init` asks for. A field that is alike in both has its
/// default in the full one.
package struct RecordSample: Sendable {
    package let full: StoredRecord
    package let bare: StoredRecord
    /// A field that stores need not keep.
    private let except: String?

    private init(_ full: StoredRecord, _ bare: StoredRecord, except: String? = nil) {
        (self.full, self.bare, self.except) = (full, bare, except)
    }

    /// The fields that say nothing of whether a store keeps them.
    package var untried: [String] {
        let (one, other): (Any, Any) = (full.record, bare.record)
        let alike = zip(Mirror(reflecting: one).children, Mirror(reflecting: other).children).filter {
            String(reflecting: $0.value) == String(reflecting: $1.value)
        }
        let untried = alike.compactMap(\.0.label) + Self.empty(one, "").map { String($0.dropFirst()) }
        return Set(untried).subtracting([except].compactMap(\.self)).sorted().map { "\(type(of: one)).\($0)" }
    }

    /// Where nothing, false, zero or an empty text or list is, in whatever depth.
    private static func empty(_ value: Any, _ path: String) -> [String] {
        switch value {
        case let text as String: return text.isEmpty ? [path] : []
        case let flag as Bool: return flag ? [] : [path]
        case let number as any BinaryInteger: return "\(number)" == "0" ? [path] : []
        case is JSONValue: return []
        default: break
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional:
            guard let wrapped = mirror.children.first else { return [path] }
            return empty(wrapped.value, path)
        case .collection:
            return mirror.children.isEmpty ? [path] : mirror.children.flatMap { empty($0.value, path) }
        default:
            return mirror.children.flatMap { empty($0.value, "\(path).\($0.label ?? "")") }
        }
    }

    private static let (late, later) = (nextDay, nextDay + 3_600)
    private static let document = JSONValue.object([.init("text", .string("\u{E9}")), .init("n", .number("1.50"))])

    /// One sample of each kind, and of one that is kept in two places one for each.
    package static let all: [RecordSample] =
        people + devices + [
            RecordSample(
                .sent(SentNotification(id: "sent", owner: "alice", message: message.id, expiresAt: late)),
                .sent(SentNotification(id: "bare", owner: "bob", expiresAt: later))),
            RecordSample(
                .message(message),
                .message(SentMessage(id: name("b"), owner: "bob", to: "c", sentAt: noon, expiresAt: later))),
            RecordSample(
                .opening(MessageOpening(opener: "alice", message: message.id, expiresAt: late)),
                .opening(MessageOpening(opener: "bob", message: name("b"), expiresAt: later))),
            RecordSample(
                .idempotentRequest(request),
                .idempotentRequest(
                    IdempotentRequest(owner: "bob", key: "k", fingerprint: "g", createdAt: noon, expiresAt: later))),
            RecordSample(.hubMessage(waiting("done")), .hubMessage(bare("done-bare")), except: "notBefore"),
            RecordSample(.queuedMessage(waiting("queued")), .queuedMessage(bare("queued-bare")), except: "notBefore"),
            RecordSample(.queuedMessage(scheduled), .queuedMessage(bare("due-bare"))),
            RecordSample(.scheduledSend(waiting("send")), .scheduledSend(bare("send-bare")), except: "notBefore"),
        ]

    private static let people: [RecordSample] = [
        RecordSample(.user(user), .user(User(name: "bob", passwordHash: "", version: 1))),
        RecordSample(
            .lastSeen(LastSeen(owner: "id.alice", at: noon + -5)), .lastSeen(LastSeen(owner: "id.bob", at: noon))),
        RecordSample(
            .notification(notification),
            .notification(
                SecureNotification(
                    id: 8, token: "bare", owner: "bob", payload: "p", isRead: false, createdAt: noon, expiresAt: later))
        ),
        RecordSample(
            .session(session),
            .session(Session(id: "bare", owner: "bob", binding: "c", createdAt: noon, expiresAt: later))),
        RecordSample(
            .appToken(token),
            .appToken(AppToken(id: "bare", hash: "g", owner: "bob", epoch: 0, scopes: [], createdAt: noon))),
    ]

    private static let devices: [RecordSample] = [
        RecordSample(.device(device), .device(DeviceRecord(id: "bare", owner: "bob", updatedAt: noon, version: 1))),
        RecordSample(
            .hubRegistration(registration),
            .hubRegistration(
                HubRegistration(
                    id: "bare", channel: "CD", tags: [], description: .null, updatedAt: noon, version: 1,
                    isNamespaced: false))),
    ]

    // MARK: The full ones

    package static let user: User = {
        var user = User(name: "alice", passwordHash: "$y$1", tags: ["news:*"], sendTo: ["*"], version: 2)
        (user.roles, user.isSecureOnly, user.disabledAt, user.expiresAt) = (["editor"], true, noon + 1, noon + 2)
        (user.credentialEpoch, user.generation, user.removedAt, user.keepsData) = (7, 3, noon + 3, true)
        user.lastSeenAt = noon + 4
        let schedule = Schedule(until: noon + 9, dueAt: noon + 8, attempts: 4)
        let walk = Cleaning.Walk(next: 2, begunAt: noon + 6, hasFailed: true)
        user.upkeep = Upkeep(
            cleanings: [Cleaning(first: 1, last: 2, walk: walk, schedule: schedule)], review: schedule)
        return user
    }()

    package static let notification = SecureNotification(
        id: 7, token: "token", owner: "alice", sender: "bob", payload: "text", isPlain: true, isRead: true,
        createdAt: noon + -1, sequence: 9, expiresAt: late)

    package static let device = DeviceRecord(
        id: "device", owner: "alice", platform: "apns", handle: "AB", tags: ["x", "y"], installationID: "i", alias: "a",
        needsReconciliation: true, gone: DeviceRecord.Gone(at: noon + 6, reason: "ExpiredChannel"), updatedAt: noon + 5,
        version: 2)

    package static let session = Session(
        id: "session", owner: "alice", binding: "b", createdAt: noon + -1, expiresAt: late)

    package static let token = AppToken(
        id: "token", hash: "h", owner: "alice", epoch: 3, scopes: ["send"], recipients: ["bob"],
        recipientOwners: ["bob:1"], label: "l", createdAt: noon + -1, expiresAt: late, lastUsedAt: noon + -2)

    package static let message = SentMessage(
        id: name("m"), owner: "alice", to: "bob", recipient: "bob", sentAt: noon + -1, sequence: 4, isSecure: true,
        keptID: 5, outcomes: [.init(platform: "apns", state: "Enqueued", notificationID: "sent")], expiresAt: late)

    package static let request = IdempotentRequest(
        owner: "alice", key: "key", fingerprint: "f",
        answer: KeptAnswer(status: 201, contentType: "text/plain", body: "{}"), createdAt: noon + -1, expiresAt: late)

    package static let registration = HubRegistration(
        id: "registration", channel: "AB", tags: ["news", "sport"], description: document, updatedAt: noon + 5,
        version: 2)

    package static let scheduled = HubMessage(
        id: "scheduled", owner: "alice", document: document, createdAt: noon + -1, notBefore: noon + 60, expiresAt: late
    )

    package static func waiting(_ id: String) -> HubMessage {
        HubMessage(id: id, owner: "alice", document: document, createdAt: noon + -1, expiresAt: late)
    }

    private static func bare(_ id: String) -> HubMessage {
        HubMessage(id: id, document: .null, createdAt: noon, expiresAt: later)
    }

    /// As messages are named.
    private static func name(_ letter: String) -> String { String(repeating: letter, count: 22) }
}
