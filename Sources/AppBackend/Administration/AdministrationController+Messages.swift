// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Logging
import NotificationHub
import Store
import Text

/// `GET /api/admin/messages` and below it
extension AdministrationController {
    /// The message objects of the last seven days, newest first: those behind `after`, that were sent before `before`, by or
    /// to `user`. What became of them the built-in hub tells.
    func messages(_ request: UserRequest) throws -> Response {
        let query = try Query(request.query)
        var wish = MessageHistory.Wish(limit: try ListQuery.limit(query))
        wish.user = query["user"]
        wish.place = try place(query)
        // A hub elsewhere would be asked for each over the network, and the list would wait for it: `message(_:_:)` asks it.
        let entries = try history.list(wish) { ids in
            hub.isLocal ? hub.details(of: ids, for: request, logger) : ids.map { _ in .success(nil) }
        }
        return Self.answer(JSONWriter.array(entries) { $0.writeMembers(to: &$1) })
    }

    /// What the message's sender learns by its timeline, who that is, and what became of it at each device.
    func message(_ request: UserRequest, _ id: String) throws -> Response {
        guard let message = try history.message(id) else {
            throw Problem(.noSuchMessage, "There is no message of that id.")
        }
        return Self.answer(try history.report(message) { hub.details(of: $0, for: request, logger) }.json)
    }

    /// `GET /api/admin/messages/scheduled`: those that wait for their time, the soonest first, by or to `user`.
    func waiting(_ request: UserRequest) throws -> Response {
        let query = try Query(request.query)
        var wish = MessageHistory.Wish(limit: try ListQuery.limit(query))
        wish.user = query["user"]
        return Self.answer(JSONWriter.array(try history.waiting(wish)) { $0.writeMembers(to: &$1) })
    }

    /// `DELETE /api/admin/messages/scheduled/{MessageId}`: `{"Password":"…"}`
    func cancel(_ request: UserRequest, _ id: String) throws -> Response {
        try requirePassword(request)
        guard let waiting = try history.cancel(id) else {
            throw Problem(.noSuchMessage, "No message waits for its time under that id.")
        }
        note("a scheduled message was cancelled", request, of: waiting.message.sender)
        return Response(fields: [.cacheControl: "no-store"])
    }

    /// Where the list begins: behind the earlier one of what `after` and `before` name.
    /// - Throws: `Problem` 400; `StoreError`.
    private func place(_ query: Query) throws -> SentMessage.Place? {
        let before = try query["before"].map { text in
            guard let time = Timestamp(rfc3339: text) else {
                throw Problem(.invalidValue, "before must be a time, as in 2026-11-23T00:14:10Z.", field: "before")
            }
            return SentMessage.Place(sentAt: time)
        }
        let after = try query["after"].map { id in
            guard let message = try history.message(id) else {
                throw Problem(
                    .listPositionGone, "after must be the id of a message that is not forgotten.", field: "after")
            }
            return message.place
        }
        return [before, after].compactMap(\.self).min()
    }
}

extension MessageHistory.Entry {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("MessageId", message.id)
        json.member("From", message.sender)
        json.member("To", message.to)
        json.member("SentAt", message.sentAt.text)
        json.member("Secure", message.isSecure)
        json.member("Kept", message.keptID != nil)
        json.member("Opened", opened)
        json.member("Outcomes", outcomes) { outcome, json in
            json.member("Platform", outcome.platform)
            if let id = outcome.notificationID { json.member("NotificationId", id) }
            json.member("State", outcome.state)
        }
    }
}
