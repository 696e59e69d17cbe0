// SPDX-License-Identifier: Apache-2.0

/// Why a token is not accepted. It holds nothing of the token.
package enum TokenError: String, Error, CaseIterable, CustomStringConvertible {
    case tooLong = "The token is too long."
    case malformed = "The token is not a signed JWT."
    case unknownAlgorithm = "The token's algorithm is not RS256, ES256 or EdDSA."
    case unknownExtension = "The token's header demands an extension that is not known here."
    case wrongType = "The token is not of a type that is accepted here."
    case boundToKey = "The token is bound to a key of the client, which is not supported here."
    case unknownIssuer = "The token's issuer is not known here."
    case noKeyID = "The token names no key, and its issuer has more than one."
    case unknownKey = "The token's issuer has no such key."
    case wrongKey = "The token's algorithm is not that of the key."
    case badSignature = "The token's signature is wrong."
    case wrongAudience = "The token is for another audience."
    case badTime = "The token has no valid times."
    case expired = "The token has expired."
    case notYetValid = "The token is not valid yet."
    case noUser = "The token names no user that can be one here."
    case userMayNotLogIn = "The token's user may not log in here."
    case unverifiedEmail = "The token's e-mail address is not verified."

    /// One sentence for the client, in the characters of `error_description` (RFC 6750 section 3).
    package var description: String { rawValue }
}
