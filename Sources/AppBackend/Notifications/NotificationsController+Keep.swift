// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Logging
import Store
import Text

/// Plain messages, for their recipient's inbox
extension NotificationsController {
    /// A plain message that is kept before it is sent.
    struct Kept: Sendable {
        let id: Int32
        let token: String
        let owner: String

        init(_ notification: SecureNotification) {
            (id, token, owner) = (notification.id, notification.token, notification.owner)
        }
    }

    /// Keeps it where the site keeps plain messages, and the recipient is a user. A failure of this does not fail the send.
    /// - Parameter token: that it is to have; nil: a new one.
    func keep(
        _ message: PlainMessage, for recipient: Principal, as token: String? = nil, _ request: UserRequest
    ) -> Kept? {
        if case .later = turn { return nil }
        guard plainSeconds > 0, notifications.sendAt == nil else { return nil }
        let time = now()
        return attempt(request) { () throws(StoreError) in
            guard try mayKeep(for: recipient, from: request.user) else { return nil }
            return Kept(
                try create(
                    message.payload, isPlain: true, for: recipient, as: token, from: request.user,
                    expiresAt: time + plainSeconds))
        }
    }

    /// Keeps it durably, unless an earlier try of a message for later has kept it already.
    /// - Parameter token: the one that a message for later gives it at each try; nil: a new one.
    func create(
        _ payload: String, isPlain: Bool, for recipient: Principal, as token: String?, from sender: Principal,
        expiresAt: Timestamp
    ) throws(StoreError) -> SecureNotification {
        if let token,
            let kept = try store.notification(token: token, owner: recipient.owner, now: now())
        {
            return kept
        }
        return try store.createNotification(
            token: token, owner: recipient.owner, sender: sender.owner, payload: payload, isPlain: isPlain, now: now(),
            expiresAt: expiresAt)
    }

    /// Takes back what was kept for a send that certainly did nothing, so that a second try does not keep it twice.
    func takeBack(_ kept: Kept, _ request: UserRequest) {
        // The try before this one may have sent it.
        if case .due(_, again: true) = turn { return }
        _ = attempt(request) { () throws(StoreError) in
            try store.removeNotification(kept.id, owner: kept.owner, now: now())
        }
    }

    /// How many messages wait in the inbox; nil where that cannot be counted now, which is no reason to fail a send.
    func unread(of owner: String, _ request: UserRequest) -> Int? {
        attempt(request) { () throws(StoreError) in
            min(try store.mailboxState(owner: owner, now: now()).unread, PushMessage.maximumBadge)
        }
    }

    /// Calls `body`, whose failure does not fail the send.
    /// - Returns: `nil` also if the store failed; the log says why.
    func attempt<Outcome>(
        _ request: UserRequest, _ body: () throws(StoreError) -> Outcome?
    ) -> Outcome? {
        do throws(StoreError) {
            return try body()
        } catch {
            writeCheck.forget()
            logger.warning("store: \(error)", metadata: ["request": "\(request.id)"])
            return nil
        }
    }
}
