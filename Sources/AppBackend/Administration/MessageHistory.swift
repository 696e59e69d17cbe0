// SPDX-License-Identifier: Apache-2.0
package import DeviceAPI
package import NotificationHub
package import Store
package import Text

/// What was sent by whom to whom, and what became of it, for operators: one way for commands and for the API. No title and no
/// text is in it.
package struct MessageHistory: Sendable {
    /// Which messages a list shall have.
    package struct Wish: Sendable {
        /// The sender, as the owner that they were; nil: all senders.
        package var owner: String?
        /// The name of a user who has sent the message, or whom it names as a recipient; nil: of all users.
        package var user: String?
        /// The list begins behind it; nil: with the newest.
        package var place: SentMessage.Place?
        package var limit: Int

        package init(limit: Int) { self.limit = limit }
    }

    /// One of a list.
    package struct Entry: Sendable {
        package let message: SentMessage
        /// How many users have opened it.
        package let opened: Int
    }

    let store: any StateStore
    let now: @Sendable () -> Timestamp

    package init(store: any StateStore, now: @escaping @Sendable () -> Timestamp) {
        (self.store, self.now) = (store, now)
    }

    /// Newest first. A later user of a name is found with the former ones: the list shows all of them by that name.
    package func list(_ wish: Wish) throws(StoreError) -> [Entry] {
        let (time, user) = (now(), wish.user.map { UserName($0)?.description ?? $0 })
        let messages = try store.sentMessages(owner: wish.owner, behind: wish.place, limit: wish.limit, now: time) {
            message in user.map { message.names($0) } ?? true
        }
        var entries: [Entry] = []
        for message in messages {
            entries.append(Entry(message: message, opened: try store.openings(ofMessage: message.id, now: time)))
        }
        return entries
    }

    /// The message of that id; nil when it never was, or is forgotten.
    package func message(_ id: String) throws(StoreError) -> SentMessage? {
        guard NotificationNames.isToken(id) else { return nil }
        return try store.sentMessage(id, now: now())
    }

    /// What became of a message.
    /// - Parameter ask: the hub, for what it says now, by its own names of the message.
    package func timeline(
        _ message: SentMessage, ask: ([String]) -> [Result<NotificationDetails?, HubError>]
    ) throws(StoreError) -> MessageTimeline {
        let ids = message.askableIDs
        return try MessageTimeline(message, Array(zip(ids, ask(ids))), in: store, now: now())
    }
}

extension SentMessage {
    /// The sender's name.
    package var sender: String { User.name(ofOwner: owner) }

    /// Whether the user of that name has sent it, or is a recipient by that name; not one who is by a tag.
    fileprivate func names(_ user: String) -> Bool {
        if sender == user { return true }
        if let recipient { return User.name(ofOwner: recipient) == user }
        return to.split(separator: PushMessage.Recipients.separator)
            .contains { UserName(String($0))?.description == user }
    }
}
