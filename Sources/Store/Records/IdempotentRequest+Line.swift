// SPDX-License-Identifier: Apache-2.0
package import JSON

/// Without an answer the members `status`, `contentType` and `body` are missing.
extension IdempotentRequest: LineRecord {
    package static let members: Set = [
        "id", "owner", "fingerprint", "createdAt", "expiresAt", "status", "contentType", "body",
    ]

    package init?(line: JSONValue) {
        guard let key = line["id"]?.string, let owner = line["owner"]?.string,
            let fingerprint = line["fingerprint"]?.string, let createdAt = line.time("createdAt"),
            let expiresAt = line.time("expiresAt")
        else { return nil }
        self.init(
            owner: owner, key: key, fingerprint: fingerprint, createdAt: createdAt, expiresAt: expiresAt)
        guard line["status"] != nil else { return }
        guard let answer = KeptAnswer(line: line) else { return nil }
        self.answer = answer
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", key)
        json.member("owner", owner)
        json.member("fingerprint", fingerprint)
        json.member("createdAt", createdAt.text)
        json.member("expiresAt", expiresAt.text)
        guard let answer else { return }
        json.member("status", answer.status)
        json.member("contentType", answer.contentType)
        json.member("body", answer.body)
    }
}

extension KeptAnswer {
    /// Nil also for a status that HTTP does not have: the line may have been edited by hand.
    fileprivate init?(line: JSONValue) {
        guard let status = line["status"]?.integer, Self.statuses.contains(status),
            let contentType = line["contentType"]?.string, let body = line["body"]?.string
        else { return nil }
        self.init(status: status, contentType: contentType, body: body)
    }
}
