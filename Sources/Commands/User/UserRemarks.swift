// SPDX-License-Identifier: Apache-2.0
import Server
import Store

/// What an operator should know of the users beside the configuration. What is wrong here still works.
struct UserRemarks: Equatable, Sendable {
    /// Users of an issuer who can also log in with a password of the store.
    var withTwoLogIns: [String] = []
    /// With a role that the configuration does not have, as `bob (editor)`.
    var withUnknownRole: [String] = []

    init() {}

    init(_ users: [User], _ configuration: SiteConfiguration) {
        let roles = Set(configuration.policy.roles.map(\.name))
        withTwoLogIns = users.filter { !$0.passwordHash.isEmpty && configuration.hasIssuer(ofUser: $0.name) }.map(
            \.name)
        withUnknownRole = users.compactMap { user in
            user.roles.first { !roles.contains($0) }.map { "\(user.name) (\($0))" }
        }
    }

    /// The sentences, each with what to do.
    var rows: [(found: String, fix: String)] {
        var rows: [(found: String, fix: String)] = []
        if let first = withTwoLogIns.first {
            rows.append(
                (
                    "users with the prefix of an issuer have a password, so two can log in as one user: "
                        + Self.text(first, withTwoLogIns.count),
                    "`app-backend user passwd NAME --none`, or another prefix in auth.issuers"
                ))
        }
        if let first = withUnknownRole.first {
            rows.append(
                (
                    "users have a role that the configuration does not have: "
                        + Self.text(first, withUnknownRole.count),
                    "`app-backend user change NAME --role …` or `--no-roles`, or the role in roles"
                ))
        }
        return rows
    }

    private static func text(_ first: String, _ count: Int) -> String {
        count == 1 ? first : "\(first) and \(count - 1) more"
    }
}
