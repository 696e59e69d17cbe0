// SPDX-License-Identifier: Apache-2.0
import Crypto
package import Text

/// The hub's access token: `SharedAccessSignature sr=<resource>&sig=<signature>&se=<expiry>&skn=<key name>`.
///
/// The signature is HMAC-SHA256 over `sr`, exactly as it is written in the token, a line feed, and `se`; the key is
/// the UTF-8 of the key's text.
package enum SharedAccessSignature {
    /// A token longer than this is not looked at, in bytes. One client puts a whole request URL into it.
    package static let maximumLength = 16_384

    static let scheme = "SharedAccessSignature"

    /// The value of an `Authorization` field.
    /// - Parameters:
    ///   - resource: what it opens, with everything below: `https://ns.servicebus.windows.net/hub`. Made lower case,
    ///     as Microsoft's clients do.
    ///   - expiry: seconds since 1970.
    package static func make(resource: String, key: SharedAccessKey, expiry: Int64) -> String {
        let audience = PercentEncoding.encode(resource.lowercased(), uppercase: false)
        let code = HMAC<SHA256>.authenticationCode(for: message(audience, String(expiry)), using: symmetric(key.key))
        let signature = PercentEncoding.encode(Base64.standard.encode(code), uppercase: false)
        return "\(scheme) sr=\(audience)&sig=\(signature)&se=\(expiry)&skn=\(PercentEncoding.encode(key.name))"
    }

    static func message(_ audience: String, _ expiry: String) -> [UInt8] {
        [UInt8](audience.utf8) + [UInt8(ascii: "\n")] + [UInt8](expiry.utf8)
    }

    static func symmetric(_ secret: Secret) -> SymmetricKey {
        SymmetricKey(data: [UInt8](secret.reveal().utf8))
    }
}

/// Why a token does not open the door; for the log. To the caller all but `expired`, which only the holder of a key can cause,
/// are one 401.
package enum SignatureError: Error, Equatable, Sendable {
    /// No `Authorization` field, or one of another scheme.
    case missing
    /// Not the four parts, each once, in a form that can be read.
    case malformed
    /// No key has that name.
    case unknownKey
    /// No key of that name made this signature.
    case wrongSignature
    case expired
    /// Signed for another host.
    case otherHost
    /// Signed for another path than the request's.
    case otherPath
}

/// What the holder of a key may do at a hub.
package struct AccessRights: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Create, update, read and delete single registrations and installations; read those of one handle.
    package static let listen = AccessRights(rawValue: 1)
    /// Send messages.
    package static let send = AccessRights(rawValue: 2)
    /// Everything else: lists of all registrations or of a tag's, jobs, the hub itself.
    package static let manage = AccessRights(rawValue: 4)
    /// What `DefaultFullSharedAccessSignature` may.
    package static let full: AccessRights = [.listen, .send, .manage]
}

/// A named key of a hub (Azure calls the name a policy), as both ends hold it.
package struct SharedAccessKey: Sendable {
    /// The policy's name, `skn` in a signature: `DefaultFullSharedAccessSignature`.
    package let name: String
    /// The key's text. Its UTF-8 bytes are the key; it is not decoded, although it looks like base 64.
    package let key: Secret
    /// What signatures made with the key grant.
    package let rights: AccessRights

    package init(name: String, key: Secret, rights: AccessRights) {
        self.name = name
        self.key = key
        self.rights = rights
    }
}
