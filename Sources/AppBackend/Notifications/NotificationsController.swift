// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JWT
import Logging
import NotificationHub
import Store
import Text

/// Sends and secure notifications. Each route has a file of its own.
struct NotificationsController: Sendable {
    let store: any StateStore
    let notifications: Notifications
    /// Platforms whose devices the hub reaches.
    let delivering: Set<Platform>
    let policy: TagPolicy
    /// Their users need no record; nil where no issuer is trusted.
    let issuers: TokenVerifier?
    let retentionSeconds: Int64
    /// For how long plain messages are kept for the inbox, in seconds; 0: they are not.
    let plainSeconds: Int64
    /// Whether a message to one user has the number of their unread messages as its badge, where it has none.
    let countsBadges: Bool
    let changes: InboxChanges
    let schedule: SendSchedule
    let writeCheck: WriteCheck
    /// Nil: what is sent is handed to the hub at once.
    var turn: Turn?
    let now: @Sendable () -> Timestamp
    let logger: Logger

    var routes: [Route<UserAction>] {
        [
            Route(.post, Path.notifications) { request, _ in try post(request) },
            Route(.post, Path.requests) { request, _ in try sendRequest(request) },
            Route(.get, Path.notifications) { request, _ in try list(request) },
            Route(.get, Path.outcomes + "/{id}") { request, parameters in try outcome(request, parameters["id"]) },
            Route(.get, Path.scheduled) { request, _ in try listScheduled(request) },
            Route(.delete, Path.scheduled + "/{id}") { request, parameters in
                try cancelScheduled(request, parameters["id"])
            },
            Route(.get, Path.notifications + "/{id}/timeline") { request, parameters in
                try timeline(request, parameters["id"])
            },
            Route(.post, Path.notifications + "/{id}/opened") { request, parameters in
                try noteOpening(request, parameters["id"])
            },
            Route(.get, Path.notifications + "/{id}") { request, parameters in
                try read(request, parameters["id"])
            },
            Route(.delete, Path.notifications + "/{id}") { request, parameters in
                try delete(request, parameters["id"])
            },
        ]
    }

    /// `POST /api/notifications`: with `pns` a plain notification, with an object what the object says, else a secure one.
    private func post(_ request: UserRequest) throws -> Response {
        let query = try Query(request.query)
        guard let pns = query["pns"] else {
            return try Self.holdsMessage(request.body) ? sendMessage(request, query) : sendSecure(request, query)
        }
        return try send(request, query, pns: pns)
    }

    static func noRecipient(_ field: String, named name: String? = nil) -> Problem {
        guard let name else { return Problem(.unknownRecipient, "There is no such recipient.", field: field) }
        return Problem(.unknownRecipient, "There is no such recipient: \(name).", field: field)
    }

    /// The recipient, checked against the sender's policy. Who is to be added yet, or again, has an owner already: it
    /// is where sends to a name go that has no devices.
    /// - Parameter field: where the request names them.
    /// - Throws: `Problem` 400 or 403, naming `field`.
    func recipient(_ text: String, sender: Principal, field: String = "to_tag") throws -> Principal {
        guard let recipient = UserName(text) else {
            throw Problem(.invalidRecipient, "\(field) must be the name of a user.", field: field)
        }
        return try self.recipient(recipient, sender: sender, rights: policy.rights(of: sender), field: field)
    }

    /// As above.
    /// - Parameter shown: what a refusal calls the recipient.
    func recipient(
        _ recipient: UserName, sender: Principal, rights: Rights, field: String, named shown: String? = nil
    ) throws -> Principal {
        guard rights.maySend(to: recipient, sender: sender.name) else {
            throw rights.forbiddenRecipient(field, named: shown)
        }
        let name = recipient.description
        // The sender's own was read when they were authenticated.
        let own = sender.record.flatMap { $0.name.hasSameBytes(as: name) ? $0 : nil }
        let record = try own ?? store.userRecord(name)
        let owner = record?.successor ?? name
        // The next user of the longest names would have no tag; there will be none.
        guard owner.utf16.count <= UserName.maximumOwnerLength else { throw Self.noRecipient(field, named: shown) }
        let recipient = Principal(name: name, owner: owner, record: record)
        try sender.scope.check(recipient: recipient, field: field, named: shown)
        return recipient
    }

    /// Answers a send as soon as the hub has: at once where it is in this process. A request that can be put off waits for one
    /// elsewhere without a thread, and is continued here; another waits on its thread.
    func answer(_ send: PendingSend, to request: UserRequest) throws -> Response {
        guard request.http.postponing.isPossible, !send.answers.hasEnded else {
            send.answers.wait()
            return try answerEnded(send, to: request)
        }
        return Response(
            continuation: Continuation(after: send.answers, source: request.user.owner) {
                try answerEnded(send, to: request)
            })
    }

    /// 200 when at least one platform took it. When none did, the first failure's status, as a problem that also
    /// holds the outcomes.
    /// - Throws: `NoSideEffects` with that answer, when no payload was kept and certainly no platform took it.
    private func answerEnded(_ send: PendingSend, to request: UserRequest) throws(NoSideEffects) -> Response {
        let result = send.result
        var outcome = SendOutcome(id: send.secureID, ids: send.secureIDs, outcomes: result.outcomes)
        // What is kept of a message for later is taken back where it is tried again.
        let hasKept = send.isSecure && dueID == nil
        let hasActed = outcome.isAccepted || hasKept || result.mayHaveActed
        let message = hasActed ? send.message : nil
        // No id is given for what is not kept.
        if remember(result, message, of: request) { outcome.messageID = message?.id }
        if let error = result.firstError {
            logger.warning(
                "hub: \(error)", metadata: ["request": "\(request.id)", "code": "\(Problem(error).codeText ?? "")"])
        }
        guard !outcome.isAccepted else { return .json(outcome.json) }
        let problem =
            (dueID == nil ? result.firstError : result.passingError).map { Problem($0) }
            ?? Problem(.noPlatform, "No platform is configured.")
        let response = problem.response(with: outcome)
        guard hasActed else {
            for kept in send.kept { takeBack(kept, request) }
            throw NoSideEffects(response: response)
        }
        return response
    }
}
