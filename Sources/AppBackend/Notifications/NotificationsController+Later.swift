// SPDX-License-Identifier: Apache-2.0
import Crypto
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Text

/// Messages for later: `SendAt` in a message object, and `/api/notifications/scheduled`
extension NotificationsController {
    /// Why a message is not handed to the hub at once.
    enum Turn: Sendable {
        /// Its time has not come: it is checked as if it were sent, and kept.
        case later(Timestamp)
        /// Its time has come. It has its id already.
        /// - Parameter again: whether it may have been sent before, by a process that was killed.
        case due(id: String, again: Bool)
    }

    /// The time in a message, of whose sender the request is.
    /// - Throws: `Problem` 400 for a time that has come, and for one that is too far ahead.
    func later(_ text: String) throws(Problem) -> Turn {
        guard let time = Timestamp(rfc3339: text),
            (1...HubNotification.maximumDelay).contains(time.seconds - now().seconds)
        else {
            throw Problem(
                .invalidValue, "SendAt must be a time in the next seven days, as in 2026-11-24T08:00:00Z.",
                field: PushMessage.Member.sendAt.rawValue)
        }
        return .later(time)
    }

    /// Keeps a message that was checked, where its time has not come.
    /// - Returns: nil: it is to be sent now.
    func schedule(_ message: PushMessage, _ request: UserRequest) throws -> Response? {
        guard case .later(let time) = turn else { return nil }
        var random = KernelRandom()
        let id = NotificationNames.token(using: &random)
        let sequence = schedule.sequence.next()
        guard
            let send = ScheduledSend.new(
                id: id, of: request.user, message, to: try owners(of: message.to), now: now(), sendAt: time,
                sequence: sequence)
        else { return nil }
        try schedule.add(send)
        return .json(SendOutcome(messageID: id, sendAt: time.text, outcomes: []).json)
    }

    /// The owners of the users and of the device that the recipients name. As for `recipient(_:sender:field:)`, a name without a
    /// user has the owner of its next user.
    func owners(of recipients: PushMessage.Recipients) throws(StoreError) -> NamedOwners {
        var owners: [String: String] = [:]
        for name in recipients.texts.compactMap(Recipient.ownedName) {
            if let id = name.dropping(TagPolicy.devicePrefix) {
                owners[name] = try store.device(id)?.owner
            } else {
                owners[name] = try store.owner(ofName: name)
            }
        }
        return NamedOwners(owners)
    }

    /// The id that a message has from before; nil: it has none yet.
    var dueID: String? { if case .due(let id, _) = turn { id } else { nil } }

    /// What is taken back when a message for later has certainly reached no device; of another that is secure nothing is, for its
    /// sender has the answer that it is kept.
    func dueKept(_ kept: [SecureNotification]) -> [Kept] {
        dueID == nil ? [] : kept.map { Kept($0) }
    }

    /// The token of what one of several recipients has of such a message: the same at each try.
    func dueToken(for owner: String) -> String? {
        dueID.map { id in
            var words = HashedWords(id + "\n" + owner)
            return NotificationNames.token(using: &words)
        }
    }

    // MARK: Routes

    /// `GET /api/notifications/scheduled`: the caller's, the soonest first, of secure ones no text.
    func listScheduled(_ request: UserRequest) throws -> Response {
        let sends = try schedule.sends(of: request.user.owner).compactMap { send in
            send.message.map { (send: send, message: $0) }
        }
        return .unstoredJSON(JSONWriter.array(sends) { $0.send.write($0.message, to: &$1) }.bytes)
    }

    /// `DELETE /api/notifications/scheduled/{MessageId}`
    func cancelScheduled(_ request: UserRequest, _ id: String) throws -> Response {
        guard try schedule.cancel(id, owner: request.user.owner) != nil else {
            throw Problem(.noSuchMessage, "No message of yours waits for its time under that id.")
        }
        return Response()
    }
}

/// The words of a text's SHA-256, over and over.
private struct HashedWords: RandomNumberGenerator {
    private var words: [UInt64]

    init(_ text: String) {
        let bytes = Array(SHA256.hash(data: Array(text.utf8)))
        words = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<min(start + 8, bytes.count)].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    mutating func next() -> UInt64 {
        guard let word = words.first else { return 0 }
        words = words.dropFirst() + [word]
        return word
    }
}

extension ScheduledSend {
    fileprivate func write(_ message: PushMessage, to json: inout JSONWriter) {
        json.member("MessageId", id)
        json.member("To", message.to.text)
        if message.isSecure {
            json.member("Secure", true)
        } else {
            if let title = message.title { json.member("Title", title) }
            if let body = message.body { json.member("Body", body) }
        }
        json.member("SendAt", sendAt.text)
    }
}
