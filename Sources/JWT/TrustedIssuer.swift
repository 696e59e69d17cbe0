// SPDX-License-Identifier: Apache-2.0
import Text

/// An issuer whose tokens are accepted, and what is taken from them.
package struct TrustedIssuer: Sendable {
    /// The value of `iss`, byte for byte.
    package let issuer: String
    package let prefix: UserPrefix
    /// A token is for this backend when `aud` has one of these.
    package let audiences: [String]
    /// Or when `azp`, the client that asked for it, is one of these.
    package let authorizedParties: [String]
    /// The claim that names the user: a member of the payload; where there is none of that name, the dots in it lead into
    /// objects: `realm_access.user`.
    package let userClaim: String
    /// The claim that lists roles, found as the user's is; nil: the issuer gives none.
    package let rolesClaim: String?
    /// The roles that it can give; other names in the claim are nothing here.
    package let roles: [String]

    /// - Returns: nil when there is neither an audience nor an authorized party: then any token of the issuer's would do.
    package init?(
        issuer: String, prefix: UserPrefix, audiences: [String], authorizedParties: [String] = [],
        userClaim: String = "sub", rolesClaim: String? = nil, roles: [String] = []
    ) {
        guard !issuer.isEmpty, !audiences.isEmpty || !authorizedParties.isEmpty else { return nil }
        (self.issuer, self.prefix, self.userClaim) = (issuer, prefix, userClaim)
        (self.audiences, self.authorizedParties) = (audiences, authorizedParties)
        (self.rolesClaim, self.roles) = (rolesClaim, roles)
    }
}

/// What the names of an issuer's users begin with, so that no two issuers, and no issuer and the store, have one user between them:
/// `keycloak` makes of the subject `7f3a` the user `keycloak.7f3a`.
package struct UserPrefix: Sendable, Hashable, CustomStringConvertible {
    /// In bytes.
    package static let maximumBytes = 16

    package let description: String

    /// - Returns: nil for anything but 1 to 16 letters `a` … `z`, digits and `-`. There is no dot in it, so the first dot of a user's
    ///   name is its end.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumBytes,
            text.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            })
        else { return nil }
        description = text
    }

    /// What the name of an issuer's user begins with; nil: that is no issuer's user.
    package static func text(of name: String) -> Substring? {
        name.utf8.firstIndex(of: UInt8(ascii: ".")).map { name[..<$0] }
    }

    /// The name of the issuer's user. Two values never make one name.
    ///
    /// Names of users are compared without case and have few characters, which identifiers of issuers do not care about
    /// (`auth0|5F7c`). So all but `a` … `z`, `0` … `9`, `-`, `_`, `@` and `.` is written as `#` and two hexadecimal digits for
    /// each byte of UTF-8: `auth0#7c5#467c`.
    package func userName(of value: String) -> String {
        var bytes = Array("\(description).".utf8)
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: "."):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "#")] + ASCII.lowerHex([byte])
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
