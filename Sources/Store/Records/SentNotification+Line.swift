// SPDX-License-Identifier: Apache-2.0
package import JSON

extension SentNotification: LineRecord {
    package static let members: Set = ["id", "owner", "expiresAt"]

    package init?(line: JSONValue) {
        guard let id = line["id"]?.string, let owner = line["owner"]?.string,
            let expiresAt = line.time("expiresAt")
        else { return nil }
        self.init(id: id, owner: owner, expiresAt: expiresAt)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("owner", owner)
        json.member("expiresAt", expiresAt.text)
    }
}
