// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Logging
import Store
import Text

/// Surrounds the routes: a request with an `Idempotency-Key` acts at most once, and a repetition gets the same answer.
///
/// The key is claimed before anything is done, in the store that all processes share. So of concurrent requests one acts.
/// If the process dies, the outcome is unknown and the key stays claimed; the request is never repeated.
struct IdempotencyHandler: UserResponder {
    /// For how long an answer is given again, in seconds.
    static let keptSeconds: Int64 = 86_400
    /// A request that has no answer after this many seconds died with its process. nginx waits for half of it.
    static let longestSeconds: Int64 = 120
    /// When to ask again after a request that is under way, in seconds.
    static let retryAfter = 1
    private static let keyField = ExtensionField.idempotencyKey.text

    let store: any IdempotencyStore
    let inner: any UserResponder
    let now: @Sendable () -> Timestamp
    let logger: Logger

    /// - Throws: `Problem` 400 for a malformed key, and 409; what the store throws, before anything was done; what the
    ///   inner responder throws.
    func respond(to request: UserRequest) throws -> Response {
        guard let action = Action(request.http, route: request.route?.pattern), let key = try Self.key(of: request.http)
        else {
            return try inner.respond(to: request)
        }
        let time = now()
        let claim = IdempotentRequest(
            owner: request.user.owner, key: RequestFingerprint.name(of: key),
            fingerprint: try RequestFingerprint.make(
                request.http, route: action.route, limit: request.user.scope.recipients, key: key),
            createdAt: time, expiresAt: time + Self.keptSeconds)
        if let first = try store.claimIdempotencyKey(claim, now: time) {
            return try Self.repetition(of: first, claim)
        }
        return try act(on: request, action, claim)
    }

    /// Requests that do more when they are made twice.
    private enum Action {
        case send
        /// The same in the form of the tutorial for .NET MAUI.
        case sendRequest
        /// Handing out a registration id. After a failure it may be done again: no client knows the first id.
        case newRegistrationID

        var route: String {
            switch self {
            case .send: Path.notifications
            case .sendRequest: Path.requests
            case .newRegistrationID: Path.register
            }
        }

        /// Nil for all others. The older call to register has a body, and does the same however often it is made.
        init?(_ request: Request, route: String?) {
            guard request.method == .post else { return nil }
            switch route {
            case Path.notifications: self = .send
            case Path.requests: self = .sendRequest
            case Path.register where request.isWithoutBody: self = .newRegistrationID
            default: return nil
            }
        }
    }

    /// - Throws: `Problem` 400 for a malformed key.
    /// - Returns: nil, when the request has no such field.
    static func key(of request: Request) throws(Problem) -> IdempotencyKey? {
        guard let field = request.fields[.idempotencyKey] else { return nil }
        guard let key = IdempotencyKey(field: field) else {
            throw Problem(
                .invalidValue, "Idempotency-Key must be 1 to 255 visible ASCII characters.", field: keyField)
        }
        return key
    }

    private static func repetition(of first: IdempotentRequest, _ again: IdempotentRequest) throws(Problem) -> Response
    {
        guard first.fingerprint == again.fingerprint else {
            throw Problem(.keyReused, "This Idempotency-Key was another request's.", field: keyField)
        }
        if let answer = first.answer { return Response(repeating: answer) }
        guard again.createdAt < first.createdAt + longestSeconds else {
            throw Problem(
                .outcomeUnknown,
                "The outcome of the request with this Idempotency-Key is unknown. Use a new key to repeat it.",
                field: keyField)
        }
        throw Problem(
            .requestUnderWay, "The request with this Idempotency-Key is under way.", field: keyField,
            retryAfter: retryAfter)
    }

    private func act(on request: UserRequest, _ action: Action, _ claim: IdempotentRequest) throws -> Response {
        try Continuation.after({ try inner.respond(to: request) }) { outcome in
            try settle(request, action, claim, outcome)
        }
    }

    /// Keeps the answer for repetitions, or releases the key of a request that may be made again.
    private func settle(
        _ request: UserRequest, _ action: Action, _ claim: IdempotentRequest, _ outcome: Result<Response, any Error>
    ) throws -> Response {
        do {
            let response = try outcome.get()
            write(request) { () throws(StoreError) in try store.keepAnswer(of: claim.answered(response)) }
            return response
        } catch {
            if action == .newRegistrationID || NoSideEffects.isRetrySafe(error) {
                write(request) { () throws(StoreError) in
                    try store.releaseIdempotencyKey(claim.key, owner: claim.owner)
                }
            } else if let problem = Problem(error: error) {
                write(request) { () throws(StoreError) in try store.keepAnswer(of: claim.answered(problem.response)) }
            }
            throw error
        }
    }

    /// What was done is answered also when this fails; then a repetition does not get that answer again.
    private func write(_ request: UserRequest, _ body: () throws(StoreError) -> Void) {
        do throws(StoreError) {
            try body()
        } catch {
            logger.warning("store: \(error)", metadata: ["request": "\(request.id)"])
        }
    }
}

extension IdempotentRequest {
    fileprivate func answered(_ response: Response) -> IdempotentRequest {
        var request = self
        request.answer = KeptAnswer(
            status: response.status.code, contentType: response.fields[.contentType] ?? "",
            body: String(decoding: response.body, as: UTF8.self))
        return request
    }
}

extension Response {
    /// Without `Retry-After`: asking again brings the same once more.
    fileprivate init(repeating answer: KeptAnswer) {
        self.init(
            status: .init(code: answer.status), fields: [.cacheControl: "no-store"], body: Array(answer.body.utf8))
        if !answer.contentType.isEmpty { fields[.contentType] = answer.contentType }
        fields[.idempotencyReplayed] = "true"
    }
}
