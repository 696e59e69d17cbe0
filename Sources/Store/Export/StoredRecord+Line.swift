// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// Records as lines of an export: `{"table":"users","id":"alice",…}`, with the members that the table's files have.
extension StoredRecord {
    /// Where the file store keeps it; other stores use the same names for the kinds.
    package var table: String {
        switch self {
        case .user: Self.users
        case .lastSeen: Self.seen
        case .notification: Self.notifications
        case .device: Self.devices
        case .session: Self.sessions
        case .appToken: Self.appTokens
        case .sent: Self.sentNotifications
        case .message: Self.messages
        case .opening: Self.openings
        case .idempotentRequest: Self.idempotency
        case .hubRegistration: Self.hubRegistrations
        case .hubMessage: Self.hubMessages
        case .queuedMessage(let message): message.notBefore == nil ? Self.hubQueue : Self.scheduled
        case .scheduledSend: Self.sends
        }
    }

    private static let users = "users"
    private static let seen = "seen"
    private static let notifications = "notifications"
    private static let devices = "devices"
    private static let sessions = "sessions"
    private static let appTokens = "tokens"
    private static let sentNotifications = "sent"
    private static let messages = "messages"
    private static let openings = "openings"
    private static let idempotency = "idempotency"
    private static let hubRegistrations = "hub/registrations"
    private static let hubMessages = "hub/messages"
    private static let hubQueue = "hub/queue"
    /// A table of its own: a version that knows nothing of such messages would deliver them at once.
    private static let scheduled = "hub/due"
    private static let sends = "scheduled"

    /// One JSON object, with the line feed.
    package var line: [UInt8] {
        let json = JSONWriter.object(reservingCapacity: 512) {
            $0.member("table", table)
            asLineRecord.write(to: &$0)
        }
        return json.bytes + [0x0A]
    }

    private var asLineRecord: any LineRecord {
        switch self {
        case .user(let user): user
        case .lastSeen(let seen): seen
        case .notification(let notification): notification
        case .device(let device): device
        case .session(let session): SessionRecord(session, version: 1)
        case .appToken(let token): AppTokenRecord(token, version: 1)
        case .sent(let sent): sent
        case .message(let message): message
        case .opening(let opening): opening
        case .idempotentRequest(let request): request
        case .hubRegistration(let registration): registration
        case .hubMessage(let message), .queuedMessage(let message), .scheduledSend(let message): message
        }
    }

    /// - Parameter line: what `line` wrote, with or without the line feed. Members that are not known are passed over.
    /// - Throws: `ExportFault`.
    package init(line: UnsafeBufferPointer<UInt8>) throws(ExportFault) {
        try self.init(ExportFault.parse(line))
    }

    init(_ value: JSONValue) throws(ExportFault) {
        guard let table = value["table"]?.string else { throw ExportFault(reason: "no text in \"table\"") }
        guard let decode = Self.decoders[table] else {
            throw ExportFault(reason: "\"table\" names none that this version knows")
        }
        guard let record = decode(value) else { throw ExportFault(reason: "a member is missing or of a wrong kind") }
        guard record.version ?? 0 <= Self.maximumVersion else {
            throw ExportFault(reason: "\"version\" is more than \(Self.maximumVersion)")
        }
        self = record
    }

    /// The highest version that an import brings: each change needs a higher one, so a record at the end of all numbers
    /// could never be changed again. No record is written that often; and a larger number other programs, which may
    /// have had the export in their hands, do not keep exactly (RFC 8259 section 6).
    package static let maximumVersion = (1 << 53) - 1

    /// Nil for records that are not changed, or without counting.
    private var version: Int? {
        switch self {
        case .user(let user): user.version
        case .device(let device): device.version
        case .hubRegistration(let registration): registration.version
        case .lastSeen, .notification, .session, .appToken, .sent, .message, .opening, .idempotentRequest, .hubMessage,
            .queuedMessage, .scheduledSend:
            nil
        }
    }

    /// Of every kind.
    package static var tables: Set<String> { Set(decoders.keys) }

    private static let decoders: [String: @Sendable (JSONValue) -> StoredRecord?] = [
        users: { User(line: $0).map(Self.user) },
        seen: { LastSeen(line: $0).map(Self.lastSeen) },
        notifications: { SecureNotification(line: $0).map(Self.notification) },
        devices: { DeviceRecord(line: $0).map(Self.device) },
        sessions: { SessionRecord(line: $0).map { .session($0.session) } },
        appTokens: { AppTokenRecord(line: $0).map { .appToken($0.token) } },
        sentNotifications: { SentNotification(line: $0).map(Self.sent) },
        messages: { SentMessage(line: $0).map(Self.message) },
        openings: { MessageOpening(line: $0).map(Self.opening) },
        idempotency: { IdempotentRequest(line: $0).map(Self.idempotentRequest) },
        hubRegistrations: { HubRegistration(line: $0).map(Self.hubRegistration) },
        hubMessages: { HubMessage(line: $0).map(Self.hubMessage) },
        hubQueue: { HubMessage(line: $0).map(Self.queuedMessage) },
        scheduled: { HubMessage(line: $0).map(Self.queuedMessage) },
        sends: { HubMessage(line: $0).map(Self.scheduledSend) },
    ]
}

/// Why a line of an export, or the whole, cannot be used. The reason never repeats the line.
package struct ExportFault: Error, Equatable, Sendable {
    package let reason: String

    static func parse(_ line: UnsafeBufferPointer<UInt8>) throws(ExportFault) -> JSONValue {
        do throws(JSONSyntaxError) {
            return try JSONValue(parsing: line)
        } catch {
            throw ExportFault(reason: "not JSON: \(error)")
        }
    }
}
