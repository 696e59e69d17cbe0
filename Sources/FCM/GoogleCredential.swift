// SPDX-License-Identifier: Apache-2.0
package import NotificationHub
package import Push
internal import Text

/// Who the operator is at Google: what a credential file of Google's says, or the machine that the process runs on.
///
/// It prints as `***`.
package struct GoogleCredential: Sendable {
    enum Kind: Sendable {
        case serviceAccount(ServiceAccount)
        case externalAccount(ExternalAccount)
        case metadataServer
    }

    /// The text that names the metadata server in the place of a file's content.
    package static let metadataServerName = "metadata"
    /// What a token is good for: sending messages, and nothing else.
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    let kind: Kind
    /// The project that the file belongs to; nil where it does not say.
    package let projectID: String?

    /// - Parameters:
    ///   - text: the content of a credential file, or `metadataServerName`.
    ///   - trusted: besides Google's own hosts, one that the file may name: that of `fcm.endpoint`.
    /// - Throws: `GoogleCredentialError`, which names the member that is wrong and never repeats its value.
    package init(_ text: [UInt8], trusting trusted: Authority? = nil) throws(GoogleCredentialError) {
        if String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace) == [Self.metadataServerName[...]]
        {
            (kind, projectID) = (.metadataServer, nil)
            return
        }
        let file = try CredentialFile(text, trusting: trusted)
        switch try file.text("type") {
        case "service_account":
            projectID = try file.text("project_id")
            kind = .serviceAccount(try ServiceAccount(file))
        case "external_account":
            projectID = nil
            kind = .externalAccount(try ExternalAccount(file))
        case "authorized_user":
            throw GoogleCredentialError("type", "authorized_user is a person's log-in; create a service account's key")
        case "impersonated_service_account":
            throw GoogleCredentialError(
                "type", "impersonated_service_account needs a person's log-in; create a service account's key")
        default:
            throw GoogleCredentialError("type", "must be service_account or external_account")
        }
    }

    /// Hosts that are called by plain HTTP, or that have an address of this network: the metadata server of this machine, or
    /// the one that an `external_account` names. Lower case, with the port.
    package var localAuthorities: Set<String> {
        switch kind {
        case .serviceAccount: []
        case .externalAccount(let account): account.localAuthorities
        case .metadataServer: [MetadataServerTokens.host + ":80"]
        }
    }

    /// How a token is fetched.
    /// - Parameters:
    ///   - readFile: the content of the file from which an `external_account` takes its subject token; nil when it cannot be
    ///     read. It is called for each new token.
    ///   - now: seconds since 1970.
    package func tokenSource(
        readFile: @escaping @Sendable (_ path: String) -> [UInt8]?, now: @escaping @Sendable () -> Int64
    ) -> any TokenSource {
        switch kind {
        case .serviceAccount(let account): ServiceAccountTokens(account: account, now: now)
        case .externalAccount(let account): ExternalAccountTokens(account: account, readFile: readFile, now: now)
        case .metadataServer: MetadataServerTokens()
        }
    }
}

extension GoogleCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// What is wrong with a credential file of Google's. It never repeats a value.
package struct GoogleCredentialError: Error, Equatable, CustomStringConvertible {
    /// The member of the file: `private_key`; empty for the file as a whole.
    package let member: String
    package let reason: String

    init(_ member: String, _ reason: String) {
        (self.member, self.reason) = (member, reason)
    }

    package var description: String { member.isEmpty ? reason : "\(member): \(reason)" }
}
