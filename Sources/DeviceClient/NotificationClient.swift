// SPDX-License-Identifier: Apache-2.0
public import DeviceAPI
import HTTPTypes
import JSON

/// Sends notifications in the user's name, and reads what was sent to them.
public struct NotificationClient: Sendable {
    let calls: BackendCalls

    /// - Parameter transport: on Apple's platforms `URLSessionTransport()`.
    public init(endpoint: Endpoint, credentials: Credentials, transport: any DeviceTransport) {
        calls = BackendCalls(endpoint: endpoint, credentials: credentials, transport: transport)
    }

    /// Sends a message to a user's devices on one platform.
    /// - Parameter key: the same for every try of one message: the backend then sends it once, also when only the answer to
    ///   an earlier try was lost. It knows a key for 24 hours. nil: each call is a message of its own.
    /// - Returns: the outcome, also when the hub refused it on every platform (502): `isAccepted` tells.
    /// - Throws: what the refusal stands for.
    public func send(
        _ message: String, to user: String, on platform: DevicePlatform, key: IdempotencyKey? = nil
    ) async throws(DeviceClientError) -> SendOutcome {
        let query = [("pns", platform.rawValue), ("to_tag", user)]
        return try await post(query: query, json: Self.string(message), key: key)
    }

    /// Sends a message on several platforms, one call each, as the tutorial's switches do.
    /// - Parameter key: of the whole message, as above; each call has a part of it.
    /// - Returns: the outcomes together. A platform whose call failed is in them as `Abandoned`, with the reason.
    /// - Throws: the first call's error, when no call was answered with an outcome; `unauthorized`, `noToken` and `cancelled`
    ///   at once, because they are true of every platform.
    public func send(
        _ message: String, to user: String, on platforms: [DevicePlatform], key: IdempotencyKey? = nil
    ) async throws(DeviceClientError) -> SendOutcome {
        var together = SendOutcome(outcomes: [])
        var firstError: DeviceClientError?
        var answered = false
        for platform in platforms {
            do {
                let part = key?.part(platform.rawValue)
                together.outcomes += try await send(message, to: user, on: platform, key: part).outcomes
                answered = true
            } catch {
                guard !error.endsAll else { throw error }
                firstError = firstError ?? error
                together.outcomes.append(.init(platform: platform.rawValue, state: "Abandoned", error: error.words))
            }
        }
        if let firstError, !answered { throw firstError }
        return together
    }

    /// Sends a message object to those whom its `to` names, on all platforms that it names, in one call.
    /// - Parameter key: as for `send(_:to:on:key:)`.
    /// - Returns: the outcome, one entry a platform; `ignored` names what a platform cannot express. After a secure message its
    ///   `id` names the message, after one to several users its `ids`.
    public func send(_ message: PushMessage, key: IdempotencyKey? = nil) async throws(DeviceClientError) -> SendOutcome
    {
        try await post(query: [], json: message.json, key: key)
    }

    /// Leaves a secret with the backend and pushes only its id, on every platform that the backend serves.
    /// - Parameters:
    ///   - secret: nil for the tutorial's `Secure confirmation.`
    ///   - user: whom it is for; nil for the caller.
    ///   - key: as for `send(_:to:on:key:)`.
    /// - Returns: the outcome, whose `id` names the message.
    public func sendSecure(
        _ secret: String? = nil, to user: String? = nil, key: IdempotencyKey? = nil
    ) async throws(DeviceClientError) -> SendOutcome {
        let query = user.map { [("to_tag", $0)] } ?? []
        return try await post(query: query, json: secret.map(Self.string), key: key)
    }

    /// Asks what became of a send that the hub had taken; again, until `isFinal`.
    /// - Parameter notificationID: of one platform's outcome of a send of this user's.
    /// - Throws: `refused` with 404 when it is another user's, older than seven days, or not known to the hub (yet).
    public func outcome(of notificationID: String) async throws(DeviceClientError) -> SendOutcomeDetails {
        // Anything else could name another path.
        guard let id = NotificationID(notificationID) else {
            throw .refused(Problem(.noSuchMessage, "This is no notification's id."))
        }
        let response = try await calls.success(.get, "\(Path.outcomes)/\(id)")
        return try read(response) { response throws(Problem) in try SendOutcomeDetails(response) }
    }

    /// Asks what became of a message object on all platforms, and whether its recipient has read and opened it.
    /// - Parameter messageID: of the outcome of a send of this user's.
    /// - Throws: `refused` with 404 when it is another user's, or older than seven days.
    public func timeline(of messageID: String) async throws(DeviceClientError) -> MessageTimeline {
        let response = try await calls.success(.get, try Self.path(of: messageID, "timeline"))
        return try read(response) { response throws(Problem) in try MessageTimeline(response) }
    }

    /// A path below a message's id. Anything else than an id could name another path.
    static func path(of messageID: String, _ rest: String) throws(DeviceClientError) -> String {
        guard let id = NotificationID(messageID) else {
            throw .refused(Problem(.noSuchMessage, "This is no message's id."))
        }
        return "\(Path.notifications)/\(id)/\(rest)"
    }

    /// Fetches the message that a secure push named. From then on it counts as read.
    /// - Throws: `refused` with 404 when it is not the user's, has expired, or never was.
    public func secureMessage(_ reference: SecureReference) async throws(DeviceClientError) -> SecureMessage {
        let response = try await calls.success(.get, "\(Path.notifications)/\(reference.segment)")
        return try read(response) { response throws(Problem) in try SecureMessage(response) }
    }

    /// Deletes a message at the backend, read or not; it is in no list from then on.
    /// - Throws: `refused` with 404 when it is not the user's, has expired, or was deleted.
    public func deleteSecureMessage(_ reference: SecureReference) async throws(DeviceClientError) {
        _ = try await calls.success(.delete, "\(Path.notifications)/\(reference.segment)")
    }

    /// The user's own secure notifications, newest first, without their payloads.
    /// - Parameters:
    ///   - after: the last id of the page before.
    ///   - limit: how many at most; nil leaves it to the backend.
    public func secureMessages(
        unreadOnly: Bool = false, after: Int32? = nil, limit: Int? = nil
    ) async throws(DeviceClientError) -> [SecureMessageSummary] {
        let query = Self.query(unreadOnly: unreadOnly, after: after, limit: limit)
        let response = try await calls.success(.get, Path.notifications, query: query)
        return try read(response) { response throws(Problem) in try SecureMessageSummary.list(response) }
    }
}

extension NotificationClient {
    /// 502 is also the answer of a backend whose hub took nothing; then the body is an outcome, and says more.
    private func post(
        query: [(name: String, value: String)], json: [UInt8]?, key: IdempotencyKey?
    ) async throws(DeviceClientError) -> SendOutcome {
        let response = try await calls.answer(.post, Path.notifications, query: query, json: json, key: key)
        if response.status == .badGateway, let outcome = try? SendOutcome(response) { return outcome }
        guard response.status.kind == .successful else { throw DeviceClientError(Problem(response)) }
        return try read(response) { response throws(Problem) in try SendOutcome(response) }
    }

    private static func string(_ text: String) -> [UInt8] {
        JSONWriter(.string(text), reservingCapacity: text.utf8.count + 16).bytes
    }
}

extension DeviceClientError {
    /// Whether a next call would only fail alike, and count as one more failed log-in.
    fileprivate var endsAll: Bool {
        switch self {
        case .unauthorized, .noToken, .cancelled: true
        default: false
        }
    }

    /// The error as an outcome tells it.
    fileprivate var words: String {
        switch self {
        case .unreachable(let reason), .noToken(let reason): reason
        case .cancelled: "cancelled"
        default: problem?.detail ?? ""
        }
    }
}
