// SPDX-License-Identifier: Apache-2.0
import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// Throws for an event that this service has not signed just now.
func verify(secret: String, id: String, timestamp: String, signatures: String, body: Data) throws {
    guard let key = Data(base64Encoded: String(secret.dropFirst("whsec_".count))) else {
        throw Failure(words: "the secret is not in base64")
    }
    let content = Data("\(id).\(timestamp).".utf8) + body
    let isRight = signatures.split(separator: " ").contains { one in
        guard one.hasPrefix("v1,"), let code = Data(base64Encoded: String(one.dropFirst(3))) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: content, using: SymmetricKey(data: key))
    }
    guard isRight else { throw Failure(words: "the signature is wrong") }
    guard let seconds = Double(timestamp), abs(Date().timeIntervalSince1970 - seconds) <= 300 else {
        throw Failure(words: "the signature is right, and the time is more than five minutes off")
    }
}
