// SPDX-License-Identifier: Apache-2.0
import Text

/// Why a key of an issuer's document is not used.
package enum KeyFault: String, Error, Sendable {
    case notAKey = "is no object"
    case badID = "has a kid that is not a text"
    case notForSignatures = "is not for verifying signatures (use, key_ops)"
    case unknownKind = "is of a kind that is not used here (kty, crv)"
    case badNumbers = "has numbers that are missing, malformed, or too short or too long for its kind"
    case smallOrder = "is of small order, so that anybody could sign by it"
    case otherAlgorithm = "has an alg that is not used here, or is not of its kind"
}

/// A key of an issuer's document that is not used, and why; for the operator.
package struct SkippedKey: Equatable, Sendable, CustomStringConvertible {
    /// So much of an id is shown, in characters.
    private static let shownID = 64
    /// So many keys are named.
    private static let maximumNamed = 8

    /// In the document; the first is 1.
    package let number: Int
    package let id: String?
    package let fault: KeyFault

    package init(number: Int, id: String?, fault: KeyFault) {
        (self.number, self.id, self.fault) = (number, id, fault)
    }

    /// As in `key 2 (kid "a1") is not for verifying signatures`.
    package var description: String {
        let kid = id.map { " (kid \"\($0.prefix(Self.shownID).withoutControls)\")" } ?? ""
        return "key \(number)\(kid) \(fault.rawValue)"
    }

    /// Several in one sentence; empty for none.
    package static func text(_ keys: [SkippedKey]) -> String {
        let named = keys.prefix(maximumNamed).map(\.description)
        return (named + (keys.count > named.count ? ["and \(keys.count - named.count) more"] : [])).joined(
            separator: "; ")
    }
}

/// The points of Ed25519 by which a signature says nothing: for one of them a signature of zeros can be right for any text.
enum SmallOrderPoint {
    /// The eight points of order 1, 2, 4 and 8 in each encoding that a reader may take, without the sign (the highest bit).
    private static let encodings = Set(
        [
            // 0 and 1; the two of order 8; p - 1; then p and p + 1, which are 0 and 1 again.
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_AU",
            "xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA3o",
            "7P_______________________________________38",
            "7f_______________________________________38",
            "7v_______________________________________38",
        ].compactMap { Base64.url.decode($0) })

    static func contains(_ point: [UInt8]) -> Bool {
        var point = point
        if let last = point.last { point[point.count - 1] = last & 0x7F }
        return encodings.contains(point)
    }
}
