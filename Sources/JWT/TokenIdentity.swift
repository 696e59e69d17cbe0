// SPDX-License-Identifier: Apache-2.0

/// Who a verified token says that its bearer is.
package struct TokenIdentity: Sendable, Equatable {
    /// The user's name here, with the issuer's prefix.
    package let user: String
    /// As the issuer spells them; empty where there are none, or no claim is configured for them.
    package let groups: [String]
    package let roles: [String]

    package init(user: String, groups: [String] = [], roles: [String] = []) {
        (self.user, self.groups, self.roles) = (user, groups, roles)
    }
}
