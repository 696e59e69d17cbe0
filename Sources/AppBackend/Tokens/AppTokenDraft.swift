// SPDX-License-Identifier: Apache-2.0
package import DeviceAPI
import HTTPTypes
package import Store
package import Text

/// What is asked for an app token that is to be made, checked.
package struct AppTokenDraft: Sendable {
    /// In Unicode scalars.
    package static let maximumLabel = 100
    package static let maximumRecipients = 50
    /// Days that a token may be good for, where an end is asked for.
    package static let days = 1...3_650
    private static let secondsPerDay: Int64 = 86_400

    private let scopes: [Scope.Action]
    private let recipients: [String]?
    private let label: String
    private let days: Int?

    /// - Parameters:
    ///   - recipients: the only users that it may send to; nil: those that its user may send to.
    ///   - days: nil: it does not end by itself.
    /// - Throws: `Problem` 400; its `field` is `Scopes`, `To`, `Label` or `ExpiresInDays`.
    package init(scopes: [String], recipients: [String]?, label: String, days: Int?) throws(Problem) {
        self.scopes = try Self.scopes(scopes)
        self.recipients = if let recipients { try Self.recipients(recipients, self.scopes) } else { nil }
        guard label.unicodeScalars.count <= Self.maximumLabel, !label.hasControls else {
            throw Problem(
                .invalidValue,
                "Label has at most \(Self.maximumLabel) characters on one line, and none of control or format.",
                field: "Label")
        }
        guard days.map(Self.days.contains) ?? true else {
            throw Problem(
                .invalidValue, "ExpiresInDays must be \(Self.days.lowerBound) to \(Self.days.upperBound).",
                field: "ExpiresInDays")
        }
        (self.label, self.days) = (label, days)
    }

    private static func scopes(_ names: [String]) throws(Problem) -> [Scope.Action] {
        let scopes = names.compactMap { Scope.Action(rawValue: $0.lowercased()) }
        guard !scopes.isEmpty, Set(scopes).count == names.count else {
            let all = Scope.Action.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.invalidValue, "Scopes must be one or more of \(all), each once.", field: "Scopes")
        }
        return Scope.Action.allCases.filter(scopes.contains)
    }

    private static func recipients(_ names: [String], _ scopes: [Scope.Action]) throws(Problem) -> [String] {
        // An empty list must not pass for a token that may send to all.
        guard !names.isEmpty else { throw Problem(.invalidValue, "To must name a user.", field: "To") }
        let recipients = names.compactMap { UserName($0)?.description }
        guard recipients.count == names.count, recipients.count <= maximumRecipients, scopes.contains(.send) else {
            throw Problem(
                .invalidValue, "To must be at most \(maximumRecipients) names of users, for a token that may send.",
                field: "To")
        }
        return recipients
    }

    /// Makes the token and keeps it.
    /// - Parameter epoch: the user's `credentialEpoch`, as it was when this was asked for.
    /// - Returns: what its bearer shows, which is nowhere else, and what is kept.
    /// - Throws: `StoreError`.
    package func issue(
        owner: String, epoch: Int, in store: any StateStore, now: Timestamp
    ) throws(StoreError) -> (text: AppTokenText, token: AppToken) {
        let text = AppTokenText.random()
        let token = AppToken(
            id: text.id, hash: text.hash.reveal(), owner: owner, epoch: epoch, scopes: scopes.map(\.rawValue),
            recipients: recipients, recipientOwners: try store.owners(ofNames: recipients ?? []), label: label,
            createdAt: now,
            expiresAt: days.map { now + Int64($0) * Self.secondsPerDay })
        try store.createAppToken(token, now: now)
        return (text, token)
    }
}
