// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text

/// Without an answer the members `status`, `contentType` and `body` are missing.
extension IdempotentRequest: KindRecord {
    package static let kind = Kind(
        "idempotency",
        blank: IdempotentRequest(owner: "", key: "", fingerprint: "", createdAt: .zero, expiresAt: .zero),
        fields: [
            .required("id", column: "key", { $0.key }, { $0.key = $1 }),
            .required("owner", { $0.owner }, { $0.owner = $1 }),
            .required("fingerprint", { $0.fingerprint }, { $0.fingerprint = $1 }),
            .required("createdAt", { $0.createdAt }, { $0.createdAt = $1 }),
            .required("expiresAt", { $0.expiresAt }, { $0.expiresAt = $1 }),
            // No other status than those that HTTP has: the line may have been edited by hand.
            .optional("status", if: KeptAnswer.statuses.contains, { $0.answer?.status }) {
                $0.answer = $1.map { KeptAnswer(status: $0, contentType: "", body: "") }
            },
            .ofAnswer("contentType", { $0.answer?.contentType }, { $0.answer?.contentType = $1 ?? "" }),
            .ofAnswer("body", { $0.answer?.body }, { $0.answer?.body = $1 ?? "" }),
        ])
}

extension Field where Record == IdempotentRequest {
    /// A member that counts only together with `status`, and then must be there.
    fileprivate static func ofAnswer(
        _ name: String, _ get: @escaping Get<String?>, _ set: @escaping Set<String?>
    ) -> Field {
        let field = optional(name, get, set)
        let column = Column<Record>(field.column.name, absent: field.column.absent, value: field.column.value) {
            $1.answer == nil || !$0.isNull && field.column.load($0, &$1)
        }
        return Field(
            name: name, column: column, read: { $1.answer == nil || $0 != nil && field.read($0, &$1) },
            write: field.write)
    }
}
