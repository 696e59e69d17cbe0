// SPDX-License-Identifier: Apache-2.0
import JWT
package import Push

/// The issuers whose tokens are accepted: `auth.issuers`.
extension SiteConfiguration {
    /// More issuers are a fault.
    static let maximumIssuers = 32

    /// An issuer, and where its keys are.
    package struct Issuer: Equatable, Sendable {
        package enum Keys: Equatable, Sendable {
            /// A file of this host.
            case file(String)
            case address(ServiceURL)
            /// Where the issuer's own document says.
            case discovery
        }

        /// Where the configuration has it: `auth.issuers`, or `auth.issuers.1` in a list.
        package let group: String
        /// The value of `iss` in its tokens.
        package var issuer: String
        /// What the names of its users begin with, as far as the first dot.
        package var prefix: String
        /// A token is for this backend when `aud` has one of these, or `azp` is one of the parties.
        package var audiences: [String]
        package var authorizedParties: [String]
        package var userClaim: String
        /// nil: its tokens give no roles.
        package var rolesClaim: String?
        /// The roles that its tokens can give.
        package var roles: [String] = []
        package var keys: Keys
        /// PEM; nil: the host's own certificate authorities.
        package var caFile: String?

        package init(
            group: String, issuer: String, prefix: String, audiences: [String], authorizedParties: [String],
            userClaim: String, rolesClaim: String? = nil, keys: Keys, caFile: String? = nil
        ) {
            (self.group, self.issuer, self.prefix, self.userClaim) = (group, issuer, prefix, userClaim)
            self.rolesClaim = rolesClaim
            (self.keys, self.caFile, self.audiences) = (keys, caFile, audiences)
            self.authorizedParties = authorizedParties
        }
    }

    /// One group, or a list of them.
    static let issuerGroup = "auth.issuers"

    /// - Returns: whether there are any, right or not.
    mutating func readIssuers(_ reading: inout ConfigurationReading) -> Bool {
        let groups = reading.groups(Self.issuerGroup)
        if groups.count > Self.maximumIssuers {
            reading.fault(Self.issuerGroup, "must be at most \(Self.maximumIssuers) issuers")
        }
        for group in groups.prefix(Self.maximumIssuers) {
            guard var issuer = Issuer(group, &reading) else { continue }
            if issuer.rolesClaim != nil {
                issuer.roles = policy.roles.map(\.name)
                if issuer.roles.isEmpty { reading.fault("\(group).rolesClaim", "gives nothing: there are no roles") }
            }
            if issuers.contains(where: { $0.issuer.utf8.elementsEqual(issuer.issuer.utf8) }) {
                reading.fault("\(group).issuer", "is there already")
            } else if issuers.contains(where: { $0.prefix == issuer.prefix }) {
                reading.fault("\(group).prefix", "is another issuer's: each needs its own, or they would share users")
            } else {
                issuers.append(issuer)
            }
        }
        return !groups.isEmpty
    }
}

extension SiteConfiguration.Issuer {
    static let settings: [Setting] = [
        Setting(
            "auth.issuers", .groups(atMost: SiteConfiguration.maximumIssuers), default: "none",
            """
            Identity providers whose tokens (JWT) the service accepts: one group, or a list of up to 32. It adds \
            `bearer` to the methods. See [single sign-on](../operate/single-sign-on.md).
            """),
        Setting(
            "auth.issuers.issuer", .text, default: "required",
            "`iss` of its tokens, byte for byte, such as `https://id.example.com/realms/app`."),
        Setting(
            "auth.issuers.prefix", .text, default: "required",
            "Username prefix: 1 to 16 of `a-z`, `0-9` and `-`, different for each issuer."),
        Setting(
            "auth.issuers.audience", .list(), default: "required, or `authorizedParty`",
            "List. The service accepts a token if its `aud` has one of these, or its `azp` is in `authorizedParty`."),
        Setting(
            "auth.issuers.authorizedParty", .list(), default: "none",
            "List of clients (`azp`) whose tokens the service accepts."),
        Setting(
            "auth.issuers.userClaim", .text, default: "`sub`",
            """
            Claim that contains the user name. Use dots for nested claims: `profile.id`. With `email`, the issuer must \
            have verified the address (`email_verified`).
            """),
        Setting(
            "auth.issuers.rolesClaim", .text, default: "none",
            "Claim with the user's roles. Names that `roles` does not have are ignored."),
        Setting(
            "auth.issuers.jwksUrl", .text, default: "from `/.well-known/openid-configuration` below `issuer`",
            "`https://` URL of the keys that verify its tokens."),
        Setting(
            "auth.issuers.jwksFile", .text, default: "none",
            """
            File with these keys (JWKS), instead of the URL. The service reads it again at least every five minutes \
            while tokens arrive.
            """),
        Setting(
            "auth.issuers.caFile", .text, default: "the system's",
            "Certificates (PEM) to trust when the service fetches the keys."),
    ]

    /// - Parameter group: `auth.issuers`, or `auth.issuers.0` and so on in a list.
    /// - Returns: nil, when there are faults.
    fileprivate init?(_ group: String, _ reading: inout ConfigurationReading) {
        let name = reading.needed("\(group).issuer", "the value of iss in its tokens, byte for byte")
        let prefix = reading.needed("\(group).prefix", "what the names of its users begin with, such as login")
        let audiences = reading.list("\(group).audience") ?? []
        let parties = reading.list("\(group).authorizedParty") ?? []
        let claim = reading.text("\(group).userClaim") ?? "sub"
        let rolesClaim = reading.text("\(group).rolesClaim")
        let keys = Self.keys(group, issuer: name, &reading)
        let caFile = reading.certificates("\(group).caFile")
        reading.checkWriters("\(group).caFile", caFile)
        if let prefix, UserPrefix(prefix) == nil {
            reading.fault("\(group).prefix", "must be 1 to \(UserPrefix.maximumBytes) of a-z, 0-9 and -")
            return nil
        }
        if (audiences + parties).isEmpty || (audiences + parties).contains("") {
            reading.fault("\(group).audience", "is needed, or authorizedParty: lists of what aud or azp must have")
            return nil
        }
        guard let name, let prefix, let keys else { return nil }
        self.init(
            group: group, issuer: name, prefix: prefix, audiences: audiences, authorizedParties: parties,
            userClaim: claim, rolesClaim: rolesClaim, keys: keys, caFile: caFile)
    }

    private static func keys(_ group: String, issuer: String?, _ reading: inout ConfigurationReading) -> Keys? {
        let file = reading.path("\(group).jwksFile")
        let text = reading.text("\(group).jwksUrl")
        if let file {
            reading.checkWriters("\(group).jwksFile", file)
            if text != nil { reading.fault("\(group).jwksUrl", "is not for an issuer that has jwksFile") }
            do throws(KeyError) {
                try KeyFile.check(ConfigurationFile.read(file))
                return .file(file)
            } catch {
                reading.fault("\(group).jwksFile", "\(file): \(error)")
                return nil
            }
        }
        if let text {
            guard let url = SiteConfiguration.httpsURL(text) else {
                reading.fault("\(group).jwksUrl", "must be an https address")
                return nil
            }
            return .address(url)
        }
        if let issuer, SiteConfiguration.httpsURL(DiscoveredKeys.address(of: issuer)) == nil {
            reading.fault("\(group).issuer", "is no https address, so jwksUrl or jwksFile must say where its keys are")
            return nil
        }
        return .discovery
    }
}

extension SiteConfiguration {
    /// Nil for anything but an `https` address.
    static func httpsURL(_ text: String) -> ServiceURL? {
        ServiceURL(text).flatMap { $0.scheme == "https" ? $0 : nil }
    }
}
