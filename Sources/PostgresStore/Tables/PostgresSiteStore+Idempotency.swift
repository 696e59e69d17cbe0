// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    /// A key may be given back between the claim that finds it taken and the look at who has it.
    private static let maximumClaims = 4

    /// The primary key decides between those who come at once. Whether the owner has room is as it was before all of them,
    /// so they may exceed the cap by their number.
    private static let claimIdempotencyKey = Statement.writing(
        "claimIdempotencyKey",
        """
        WITH waiting AS (
            SELECT count(*) AS records FROM idempotent_requests
            WHERE owner = $1 AND status IS NULL AND expires_at > $6),
        claimed AS (
            INSERT INTO idempotent_requests (owner, key, fingerprint, created_at, expires_at)
            SELECT $1, $2, $3, $4, $5 FROM waiting WHERE records < $7
            ON CONFLICT (owner, key) DO UPDATE SET fingerprint = $3, created_at = $4, expires_at = $5, status = NULL,
                content_type = NULL, body = NULL
            WHERE idempotent_requests.expires_at <= $6 RETURNING 1)
        SELECT EXISTS (SELECT 1 FROM claimed), records < $7 FROM waiting
        """)
    private static let idempotentRequest = Statement.reading(
        "idempotentRequest",
        """
        SELECT \(IdempotentRequest.selected) FROM idempotent_requests
        WHERE owner = $1 AND key = $2 AND expires_at > $3
        """)
    /// Answers how many other keys the owner has.
    private static let keepAnswer = Statement.writingOnce(
        "keepAnswer",
        """
        WITH kept AS (
            INSERT INTO idempotent_requests (\(IdempotentRequest.columns))
            VALUES (\(IdempotentRequest.columns.parameters))
            ON CONFLICT (owner, key) DO UPDATE SET \(IdempotentRequest.columns.assignments(key: ["owner", "key"]))
            RETURNING 1)
        SELECT count(*) FROM idempotent_requests WHERE owner = $1 AND key <> $2
        """)
    private static let forgetAnswers = Statement.writing(
        "forgetAnswers",
        """
        DELETE FROM idempotent_requests WHERE owner = $1 AND status IS NOT NULL AND (key, created_at) IN (
            SELECT key, created_at FROM idempotent_requests WHERE owner = $1 AND key <> $2 AND status IS NOT NULL
            ORDER BY created_at, key LIMIT $3)
        """)
    private static let releaseIdempotencyKey = Statement.writing(
        "releaseIdempotencyKey", "DELETE FROM idempotent_requests WHERE owner = $1 AND key = $2")

    package func claimIdempotencyKey(
        _ request: IdempotentRequest, now: Timestamp
    ) throws(StoreError) -> IdempotentRequest? {
        let values: [Value] = [
            .name(request.owner), .name(request.key), .name(request.fingerprint), .time(request.createdAt),
            .time(request.expiresAt), .time(now), .count(options.quotas.idempotencyKeysPerOwner),
        ]
        for _ in 0..<Self.maximumClaims {
            let (isClaimed, hasRoom) = try answer(Self.claimIdempotencyKey, values) { (row) throws(CallFailure) in
                (try row.bool(0), try row.bool(1))
            }
            if isClaimed { return nil }
            let key: [Value] = [.name(request.owner), .name(request.key), .time(now)]
            if let holder: IdempotentRequest = try first(Self.idempotentRequest, key) { return holder }
            if !hasRoom { throw .quotaExceeded }
        }
        throw .busy(retryAfterSeconds: 1)
    }

    package func keepAnswer(of request: IdempotentRequest) throws(StoreError) {
        let others = try answer(Self.keepAnswer, request.values) { (row) throws(CallFailure) in try row.integer(0) }
        let allowed = options.quotas.idempotencyKeysPerOwner
        guard others >= allowed else { return }
        // An eighth more than must be, so that who sends all day does not have them sorted for each answer.
        let excess = others - allowed + 1 + allowed / 8
        try database.call(Self.forgetAnswers, [.name(request.owner), .name(request.key), .count(excess)])
    }

    package func releaseIdempotencyKey(_ key: String, owner: String) throws(StoreError) {
        try database.call(Self.releaseIdempotencyKey, [.name(owner), .name(key)])
    }
}

extension IdempotentRequest: RowRecord {
    static let columns: Columns = [
        "owner", "key", "fingerprint", "created_at", "expires_at", "status", "content_type", "body",
    ]
    static let selected = columns.description

    var values: [Value] {
        [
            .name(owner), .name(key), .name(fingerprint), .time(createdAt), .time(expiresAt),
            .integer((answer?.status).map(Int64.init)), .name(answer?.contentType), .name(answer?.body),
        ]
    }

    init(_ row: Row) throws(CallFailure) {
        var answer: KeptAnswer?
        if let status = try row.optionalInteger(5).map({ Int($0) }) {
            guard KeptAnswer.statuses.contains(status) else { throw .malformed }
            answer = KeptAnswer(status: status, contentType: try row.string(6), body: try row.string(7))
        }
        self.init(
            owner: try row.string(0), key: try row.string(1), fingerprint: try row.string(2), answer: answer,
            createdAt: try row.time(3), expiresAt: try row.time(4))
    }
}
