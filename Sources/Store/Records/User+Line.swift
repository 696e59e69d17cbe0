// SPDX-License-Identifier: Apache-2.0
package import JSON

extension User: LineRecord {
    package static let members: Set = [
        "id", "passwordHash", "tags", "sendTo", "generation", "removedAt", "keepsData", "upkeep", "lastLogInAt",
        "secureOnly", "version",
    ]

    package init?(line: JSONValue) {
        guard let name = line["id"]?.string, let passwordHash = line["passwordHash"]?.string,
            let tags = line.texts("tags"), let sendTo = line.texts("sendTo"), let version = line.version
        else { return nil }
        self.init(name: name, passwordHash: passwordHash, tags: tags, sendTo: sendTo, version: version)
        guard let generation = line.optional("generation", \.integer), generation ?? 0 >= 0, generation ?? 0 < .max - 1,
            let keepsData = line.optional("keepsData", \.bool), let upkeep = line.optional("upkeep", Upkeep.init),
            let removedAt = line.optional("removedAt", \.time), let lastLogInAt = line.optional("lastLogInAt", \.time),
            let isSecureOnly = line.optional("secureOnly", \.bool)
        else { return nil }
        self.generation = generation ?? 0
        self.keepsData = keepsData ?? false
        self.upkeep = upkeep ?? Upkeep()
        (self.removedAt, self.lastLogInAt) = (removedAt, lastLogInAt)
        self.isSecureOnly = isSecureOnly ?? false
    }

    package func write(to json: inout JSONWriter) {
        json.member("id", name)
        json.member("passwordHash", passwordHash)
        if let tags { json.member("tags", tags) }
        if let sendTo { json.member("sendTo", sendTo) }
        if generation > 0 { json.member("generation", generation) }
        if let removedAt { json.member("removedAt", removedAt.text) }
        if keepsData { json.member("keepsData", true) }
        if !upkeep.isEmpty {
            json.name("upkeep")
            upkeep.write(to: &json)
        }
        if let lastLogInAt { json.member("lastLogInAt", lastLogInAt.text) }
        if isSecureOnly { json.member("secureOnly", true) }
        json.member("version", version)
    }
}
