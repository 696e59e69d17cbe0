// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Server
import Store
import Testing

@testable import Commands

/// What `check` and `doctor` say of users.
struct UserRemarksTests {
    private func user(_ name: String, password: String = "$y$1", roles: [String] = []) -> User {
        var user = User(name: name, passwordHash: password)
        user.roles = roles
        return user
    }

    private var configuration: SiteConfiguration {
        var configuration = SiteConfiguration()
        configuration.policy.roles = [Role(name: "editor")]
        configuration.issuers = [
            SiteConfiguration.Issuer(
                group: "auth.issuers", issuer: "https://id.example", prefix: "id", audiences: ["a"],
                authorizedParties: [], userClaim: "sub", keys: .discovery)
        ]
        return configuration
    }

    @Test func `an issuer's users with a password are named, and others are not`() {
        let users = [user("id.carol"), user("id.dan", password: ""), user("id"), user("ide.a"), user("bob")]
        let remarks = UserRemarks(users, configuration)
        #expect(remarks.withTwoLogIns == ["id.carol"] && remarks.rows.count == 1)
        #expect(remarks.rows.first?.found.hasSuffix(": id.carol") == true)
    }

    @Test func `roles that the configuration does not have are named, the first of each user`() {
        let users = [
            user("bob", roles: ["editor"]), user("dan", roles: ["editor", "gone", "x"]), user("eve", roles: ["x"]),
        ]
        let remarks = UserRemarks(users, configuration)
        #expect(remarks.withUnknownRole == ["dan (gone)", "eve (x)"])
        #expect(remarks.rows.first?.found.hasSuffix(": dan (gone) and 1 more") == true)
        #expect(UserRemarks([user("bob")], SiteConfiguration()).rows.isEmpty)
    }
}
