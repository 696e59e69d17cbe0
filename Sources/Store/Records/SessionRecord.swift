// SPDX-License-Identifier: Apache-2.0
package import JSON

/// A session as a line. It has a version because all indexed records have one; a session never changes.
package struct SessionRecord: LineRecord {
    package static let members: Set = ["id", "owner", "binding", "createdAt", "expiresAt", "version"]

    package var session: Session
    package var version = 0

    package var id: String { session.id }

    package init(_ session: Session, version: Int = 0) {
        self.session = session
        self.version = version
    }

    package init?(line: JSONValue) {
        guard let id = line["id"]?.string, let owner = line["owner"]?.string, let binding = line["binding"]?.string,
            let createdAt = line.time("createdAt"), let expiresAt = line.time("expiresAt"), let version = line.version
        else { return nil }
        session = Session(id: id, owner: owner, binding: binding, createdAt: createdAt, expiresAt: expiresAt)
        self.version = version
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", session.id)
        json.member("owner", session.owner)
        json.member("binding", session.binding)
        json.member("createdAt", session.createdAt.text)
        json.member("expiresAt", session.expiresAt.text)
        json.member("version", version)
    }
}
