// SPDX-License-Identifier: Apache-2.0
package import JSON
internal import Text

extension SentNotification: KindRecord {
    package static let kind = Kind(
        "sent", blank: SentNotification(id: "", owner: "", expiresAt: .zero),
        fields: [
            .required("id", { $0.id }, { $0.id = $1 }),
            .required("owner", { $0.owner }, { $0.owner = $1 }),
            .optional("message", { $0.message }, { $0.message = $1 }),
            .required("expiresAt", { $0.expiresAt }, { $0.expiresAt = $1 }),
        ])
}

extension SentMessage: KindRecord {
    package static let kind = Kind(
        "messages", blank: SentMessage(id: "", owner: "", to: "", sentAt: .zero, expiresAt: .zero),
        fields: [
            .required("id", { $0.id }, { $0.id = $1 }),
            .required("owner", { $0.owner }, { $0.owner = $1 }),
            .required("to", { $0.to }, { $0.to = $1 }),
            .optional("recipient", { $0.recipient }, { $0.recipient = $1 }),
            .required("sentAt", { $0.sentAt }, { $0.sentAt = $1 }),
            .sequence({ $0.sequence }, { $0.sequence = $1 }),
            .flag("secure", { $0.isSecure }, { $0.isSecure = $1 }),
            .optional("kept", { $0.keptID }, { $0.keptID = $1 }),
            .required("outcomes", { $0.outcomes }, { $0.outcomes = $1 }),
            .required("expiresAt", { $0.expiresAt }, { $0.expiresAt = $1 }),
        ])
}

extension SentMessage.PlatformOutcome: StoredDocument {
    package init?(_ json: JSONValue) {
        guard let platform = json["platform"]?.string, let state = json["state"]?.string,
            let notificationID = json.optional("id", \.string)
        else { return nil }
        self.init(platform: platform, state: state, notificationID: notificationID)
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("platform", platform)
            json.member("state", state)
            if let notificationID { json.member("id", notificationID) }
        }
    }
}

extension MessageOpening: KindRecord {
    package static let kind = Kind(
        "openings", blank: MessageOpening(opener: "", message: "", expiresAt: .zero),
        fields: [
            .required("id", column: "opener", { $0.opener }, { $0.opener = $1 }),
            .required("message", { $0.message }, { $0.message = $1 }),
            .required("expiresAt", { $0.expiresAt }, { $0.expiresAt = $1 }),
        ])
}
