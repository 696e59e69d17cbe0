// SPDX-License-Identifier: Apache-2.0
package import Push
package import Text

/// Who the operator is at Google: what a credential file of Google's says, or that the machine is Google's and knows.
///
/// It prints as `***`.
package struct GoogleCredential: Redacted, Sendable {
    enum Kind: Sendable {
        case serviceAccount(ServiceAccount)
        case externalAccount(ExternalAccount)
        case metadataServer
    }

    /// What a token is good for: sending messages, and nothing else.
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    let kind: Kind
    /// The Firebase project whose devices are reached.
    package let projectID: String

    /// - Parameters:
    ///   - text: the content of a credential file; of an `external_account` it may have a `project_id` besides Google's
    ///     members, and `{"type":"metadata_server","project_id":"…"}` is a type of ours.
    ///   - trusted: besides Google's own hosts, one that the file may name: that of `fcm.endpoint`.
    /// - Throws: `GoogleCredentialError`, which names the member that is wrong and never repeats its value.
    package init(_ text: [UInt8], trusting trusted: Authority? = nil) throws(GoogleCredentialError) {
        let file = try CredentialFile(text, trusting: trusted)
        switch try file.text("type") {
        case "service_account":
            projectID = try file.text("project_id")
            kind = .serviceAccount(try ServiceAccount(file))
        case "external_account":
            let account = try ExternalAccount(file)
            guard let project = try file.optionalText("project_id") ?? account.projectID else {
                throw file.fault("project_id", "is missing; add it to the file")
            }
            (projectID, kind) = (project, .externalAccount(account))
        case "metadata_server": (projectID, kind) = (try file.text("project_id"), .metadataServer)
        case "authorized_user":
            throw GoogleCredentialError("type", "authorized_user is a person's log-in; create a service account's key")
        case "impersonated_service_account":
            throw GoogleCredentialError(
                "type", "impersonated_service_account needs a person's log-in; create a service account's key")
        default:
            throw GoogleCredentialError("type", "must be service_account, external_account or metadata_server")
        }
    }

    /// Hosts that may have an address of this network and be called by plain HTTP: the metadata server of this machine, or
    /// the one that an `external_account` names. Lower case, with the port.
    package var localAuthorities: Set<String> {
        switch kind {
        case .serviceAccount: []
        case .externalAccount(let account): account.localAuthorities
        case .metadataServer: [MetadataServerTokens.host + ":80"]
        }
    }

    /// Whether tokens, or what they are made of, come by plain HTTP.
    package var usesPlainHTTP: Bool {
        switch kind {
        case .serviceAccount: false
        case .externalAccount(let account): account.usesPlainHTTP
        case .metadataServer: true
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
