// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    /// A key may be given back between the claim that finds it taken and the look at who has it.
    private static let maximumClaims = 4

    /// The primary key decides between those who come at once. Whether the owner has room is as it was before all of them,
    /// so they may exceed the cap by their number.
    private static let claimed = IdempotentRequest.columns
    private static let claimIdempotencyKey = Statement.writing(
        "claimIdempotencyKey",
        """
        WITH waiting AS (
            SELECT count(*) AS records FROM idempotent_requests
            WHERE owner = \(claimed["owner"]) AND status IS NULL AND expires_at > \(claimed.parameter(behind: 1))),
        claimed AS (
            INSERT INTO idempotent_requests (\(claimed))
            SELECT \(claimed.parameters) FROM waiting WHERE records < \(claimed.parameter(behind: 2))
            ON CONFLICT (owner, key) DO UPDATE SET \(claimed.assignments(key: ["owner", "key"]))
            WHERE idempotent_requests.expires_at <= \(claimed.parameter(behind: 1)) RETURNING 1)
        SELECT EXISTS (SELECT 1 FROM claimed), records < \(claimed.parameter(behind: 2)) FROM waiting
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
        SELECT count(*) FROM idempotent_requests WHERE owner = \(claimed["owner"]) AND key <> \(claimed["key"])
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
        var claim = request
        claim.answer = nil
        let values = try claim.values() + [.time(now), .count(options.quotas.idempotencyKeysPerOwner)]
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
        let others = try answer(Self.keepAnswer, try request.values()) { (row) throws(CallFailure) in try row.integer(0)
        }
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

extension IdempotentRequest: TableRecord {
    static let table = Table<IdempotentRequest>("idempotent_requests", key: ["owner", "key"])
}
