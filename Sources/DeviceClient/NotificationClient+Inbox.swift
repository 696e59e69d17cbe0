// SPDX-License-Identifier: Apache-2.0
public import DeviceAPI
import HTTPTypes

/// What was sent to the user, as all of their devices see it.
extension NotificationClient {
    /// A page of the inbox, newest first, with the number of all unread messages.
    /// - Parameters:
    ///   - after: the last id of the page before.
    ///   - limit: how many at most; nil leaves it to the backend.
    ///   - known: what this call, with the same parameters, has answered before: if nothing has changed since, the backend
    ///     sends nothing, and the answer is `known`.
    /// - Throws: `refused` with 400 when the message of `after` is gone: begin again without it.
    public func inbox(
        unreadOnly: Bool = false, after: Int32? = nil, limit: Int? = nil, known: Inbox? = nil
    ) async throws(DeviceClientError) -> Inbox {
        let query = Self.query(unreadOnly: unreadOnly, after: after, limit: limit)
        let response = try await calls.answer(.get, Path.inbox, query: query, entityTag: known?.entityTag)
        if response.status == .notModified, let known { return known }
        guard response.status.kind == .successful else { throw DeviceClientError(Problem(response)) }
        return try read(response) { response throws(Problem) in try Inbox(response) }
    }

    /// Notes that the user has read the message; all of their devices see it as read.
    /// - Throws: `refused` with 404 when it is not the user's, has expired, or was deleted.
    public func markAsRead(_ id: Int32) async throws(DeviceClientError) {
        _ = try await calls.success(.post, "\(Path.inbox)/\(id)/read")
    }

    /// Notes that the user has opened the message, for its sender to see; again and again it counts once.
    /// - Parameter messageID: `messageId` of the push; of a secure one its `secureToken`.
    /// - Throws: `refused` with 404 when it was not sent to the user, or was sent as a string.
    public func noteOpening(of messageID: String) async throws(DeviceClientError) {
        _ = try await calls.success(.post, try Self.path(of: messageID, "opened"))
    }

    /// Deletes a message of the inbox, read or not, for all of the user's devices.
    /// - Throws: as `markAsRead(_:)`.
    public func deleteFromInbox(_ id: Int32) async throws(DeviceClientError) {
        _ = try await calls.success(.delete, "\(Path.inbox)/\(id)")
    }

    static func query(unreadOnly: Bool, after: Int32?, limit: Int?) -> [(name: String, value: String)] {
        var query: [(name: String, value: String)] = []
        if unreadOnly { query.append(("unread", "true")) }
        if let after { query.append(("after", String(after))) }
        if let limit { query.append(("limit", String(limit))) }
        return query
    }
}
