// SPDX-License-Identifier: Apache-2.0
package import JSON

extension DeviceRecord: LineRecord {
    package static let members: Set = [
        "id", "owner", "platform", "handle", "tags", "installationId", "alias", "pending", "updatedAt", "version",
    ]

    package init?(line: JSONValue) {
        guard let id = line["id"]?.string, let owner = line["owner"]?.string,
            let platform = line["platform"]?.string, let handle = line["handle"]?.string,
            let tags = line.texts("tags"), let updatedAt = line.time("updatedAt"), let version = line.version
        else { return nil }
        let installationID = line["installationId"]
        guard installationID == nil || installationID?.string != nil else { return nil }
        let alias = line["alias"]
        guard alias == nil || alias?.string != nil else { return nil }
        let isPending = line["pending"]
        guard isPending == nil || isPending?.bool != nil else { return nil }
        self.init(
            id: id, owner: owner, platform: platform, handle: handle, tags: tags ?? [],
            installationID: installationID?.string, alias: alias?.string, isPending: isPending?.bool ?? false,
            updatedAt: updatedAt, version: version)
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("owner", owner)
        json.member("platform", platform)
        json.member("handle", handle)
        json.member("tags", tags)
        if let installationID { json.member("installationId", installationID) }
        if let alias { json.member("alias", alias) }
        if isPending { json.member("pending", true) }
        json.member("updatedAt", updatedAt.text)
        json.member("version", version)
    }
}
