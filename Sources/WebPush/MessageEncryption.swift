// SPDX-License-Identifier: Apache-2.0
internal import Crypto
package import NotificationHub
internal import Text

/// Encrypts one message so that one browser alone can read it, and not the push service between
/// (RFC 8291, in the form of RFC 8188, `aes128gcm`, as a single record).
///
/// Key and salt are of one message only: with the same pair twice, AES-GCM would give both texts away.
package struct MessageEncryption {
    /// What the header of the body calls the record size, in bytes.
    package static let recordSize: UInt32 = 4096
    /// The largest body that every push service takes, in bytes (RFC 8030 section 7.2).
    package static let maximumBody = 4096
    /// The largest text, in bytes: 4096 without the header, the delimiter and the tag, 3993.
    package static let maximumPlaintext = maximumBody - headerLength - 1 - 16
    /// In bytes.
    static let saltLength = 16
    /// Salt, record size, length of the key id, and the public key as key id (RFC 8188 section 2.1), in bytes.
    static let headerLength = saltLength + 4 + 1 + BrowserSubscription.publicKeyLength

    /// Why a message cannot be encrypted.
    package enum Failure: Error, Equatable {
        /// Longer than `maximumPlaintext`.
        case tooLarge
        /// The browser's key is not a point of the curve, or its secret is not one: nothing can ever be sent to it.
        case unusableKeys
    }

    /// The keys of the one record.
    struct ContentKeys {
        let key: SymmetricKey
        let nonce: [UInt8]
    }

    private let sender: P256.KeyAgreement.PrivateKey
    /// The sender's, an uncompressed point.
    private let publicKey: [UInt8]
    private let salt: [UInt8]

    /// With a new key and a new salt.
    package init() {
        self.init(sender: Self.newKey(), salt: SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
    }

    /// With given ones, to compare with the RFC's own example.
    init(sender: P256.KeyAgreement.PrivateKey, salt: [UInt8]) {
        self.sender = sender
        self.salt = salt
        publicKey = [UInt8](sender.publicKey.x963Representation)
    }

    /// A random number, which is a key unless it is zero or not below the curve's order, once in four thousand millions.
    ///
    /// `PrivateKey()` signs and verifies with each key that it makes, and drops half of them for want of a compact form
    /// that is not needed here. For a key of a single message that would be half the price of the whole push.
    private static func newKey() -> P256.KeyAgreement.PrivateKey {
        SymmetricKey(size: .bits256).withUnsafeBytes { try? P256.KeyAgreement.PrivateKey(rawRepresentation: $0) }
            ?? P256.KeyAgreement.PrivateKey(compactRepresentable: false)
    }

    /// - Returns: the body of the push request.
    /// - Throws: `Failure`.
    package func encrypt(_ text: [UInt8], for subscription: BrowserSubscription) throws(Failure) -> [UInt8] {
        guard text.count <= Self.maximumPlaintext else { throw .tooLarge }
        guard let auth = Base64.url.decode(subscription.auth), let point = Base64.url.decode(subscription.p256dh) else {
            throw .unusableKeys
        }
        do {
            let keys = contentKeys(try keyingMaterial(browserKey: point, auth: auth))
            let nonce = try AES.GCM.Nonce(data: keys.nonce)
            // 0x02 says that this is the last record (RFC 8188 section 2); no padding.
            let box = try AES.GCM.seal(text + [0x02], using: keys.key, nonce: nonce)
            return header + box.ciphertext + box.tag
        } catch {
            throw .unusableKeys
        }
    }

    /// RFC 8291 section 3.4: the browser's secret and both public keys go into what the record's keys are made of.
    func keyingMaterial(browserKey: [UInt8], auth: [UInt8]) throws -> SymmetricKey {
        let browser = try P256.KeyAgreement.PublicKey(x963Representation: browserKey)
        let shared = try sender.sharedSecretFromKeyAgreement(with: browser)
        return shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: auth,
            sharedInfo: [UInt8]("WebPush: info\0".utf8) + browserKey + publicKey,
            outputByteCount: 32)
    }

    /// RFC 8188 sections 2.2 and 2.3; the number of the first record, 0, leaves the nonce as it is.
    func contentKeys(_ material: SymmetricKey) -> ContentKeys {
        let secret = HKDF<SHA256>.extract(inputKeyMaterial: material, salt: salt)
        func derive(_ info: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.expand(pseudoRandomKey: secret, info: [UInt8](info.utf8), outputByteCount: count)
        }
        let nonce = derive("Content-Encoding: nonce\0", 12).withUnsafeBytes { Array($0) }
        return ContentKeys(key: derive("Content-Encoding: aes128gcm\0", 16), nonce: nonce)
    }

    private var header: [UInt8] {
        let size = withUnsafeBytes(of: Self.recordSize.bigEndian) { Array($0) }
        return salt + size + [UInt8(truncatingIfNeeded: publicKey.count)] + publicKey
    }
}
