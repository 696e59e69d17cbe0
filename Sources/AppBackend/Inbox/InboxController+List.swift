// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Store

/// `GET /api/inbox?unread=true&after=<id>&limit=<n>`
extension InboxController {
    /// The caller's own messages, newest first: the plain ones whole, the secure ones without their text. 304 where the client
    /// has the answer to this query already.
    func list(_ request: UserRequest) throws -> Response {
        let query = try ListQuery(request.query)
        let (owner, time) = (request.user.owner, now())
        // Before the messages: of what comes in between the next call tells.
        let state = try store.mailboxState(owner: owner, now: time)
        let tag = "\"\(state.revision)-\(query.tag)\""
        let fields: HTTPFields = [.eTag: tag, .cacheControl: "no-store"]
        guard !request.http.hasEntity(tag) else { return Response(status: .notModified, fields: fields) }
        let found = try store.notifications(
            owner: owner, unreadOnly: query.unreadOnly, after: query.after, limit: query.limit, now: time)
        try query.checkPlace(in: store, owner: owner, now: time)
        let inbox = Inbox(unread: state.unread, messages: try messages(found, owner: owner))
        var response = Response.json(inbox.json)
        response.fields.append(contentsOf: fields)
        return response
    }

    private func messages(_ found: [NotificationSummary], owner: String) throws(StoreError) -> [InboxMessage] {
        let plain = found.filter(\.isPlain).map(\.id)
        let payloads = plain.isEmpty ? [:] : try store.payloads(of: plain, owner: owner, now: now())
        return found.compactMap { summary in
            var message = InboxMessage(
                id: summary.id, isSecure: !summary.isPlain, isRead: summary.isRead,
                sender: User.shownSender(summary.sender), sentAt: summary.createdAt.text)
            guard summary.isPlain else { return message }
            // It may have been deleted meanwhile.
            guard let payload = payloads[summary.id] else { return nil }
            let text = PlainMessage(payload: payload)
            (message.title, message.body, message.link) = (text.title, text.body, text.link)
            return message
        }
    }
}

extension Request {
    /// Whether the client says that it has this representation (`If-None-Match`, RFC 9110 section 13.1.2), which is compared
    /// weakly: a proxy that compresses makes a tag a weak one.
    /// - Parameter tag: in its quotation marks, without a comma.
    fileprivate func hasEntity(_ tag: String) -> Bool {
        guard let known = fields[.ifNoneMatch] else { return false }
        return known.split(separator: ",").contains { element in
            let one = Substring(element.utf8.trimmingBlanks)
            return one == "*" || one == tag || one == "W/" + tag
        }
    }
}
