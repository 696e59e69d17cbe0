// SPDX-License-Identifier: Apache-2.0
package import JSON

extension SecureNotification: LineRecord {
    package static let members: Set = ["id", "owner", "sender", "token", "payload", "read", "createdAt", "expiresAt"]

    package init?(line: JSONValue) {
        guard let id = line["id"]?.integer.flatMap(Int32.init(exactly:)), id > 0,
            let token = line["token"]?.string, let owner = line["owner"]?.string,
            let payload = line["payload"]?.string, let createdAt = line.time("createdAt"),
            let expiresAt = line.time("expiresAt")
        else { return nil }
        let (isRead, sender) = (line["read"], line["sender"])
        guard isRead == nil || isRead?.bool != nil, sender == nil || sender?.string != nil else { return nil }
        self.init(
            id: id, token: token, owner: owner, sender: sender?.string ?? "", payload: payload,
            isRead: isRead?.bool ?? false,
            createdAt: createdAt, expiresAt: expiresAt)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("owner", owner)
        if !sender.isEmpty { json.member("sender", sender) }
        json.member("token", token)
        json.member("payload", payload)
        // A reading is a line of its own; here it stands in a record that came from elsewhere, or was edited.
        if isRead { json.member("read", true) }
        json.member("createdAt", createdAt.text)
        json.member("expiresAt", expiresAt.text)
    }
}

extension SecureNotification {
    /// Of the checksum in its line, and of the line feed.
    private static let checksumBytes = 18

    /// What it counts against the quotas, in bytes: its line in a file, in which a control character takes six.
    package var size: Int {
        var json = JSONWriter(reservingCapacity: 512)
        json.object { write(to: &$0) }
        return json.bytes.count + Self.checksumBytes
    }
}
