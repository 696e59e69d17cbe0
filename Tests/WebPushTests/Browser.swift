// SPDX-License-Identifier: Apache-2.0
import Crypto
import NotificationHub
import Text

/// The other end: a browser that has subscribed and reads what it is sent. Written after RFC 8188 and RFC 8291 and not
/// after our encryption; HKDF is spelt out in HMACs, so that every value of the RFC's appendix can be compared.
struct Browser {
    let key: P256.KeyAgreement.PrivateKey
    let auth: [UInt8]

    struct Unreadable: Error { let reason: String }

    /// What the RFC's appendix A calls them.
    struct Secrets {
        var ecdh: [UInt8] = []
        var prkKey: [UInt8] = []
        var ikm: [UInt8] = []
        var prk: [UInt8] = []
        var cek: [UInt8] = []
        var nonce: [UInt8] = []
    }

    var publicKey: [UInt8] { [UInt8](key.publicKey.x963Representation) }

    func handle(_ endpoint: String = "https://fcm.googleapis.com/fcm/send/abc") throws -> DeviceHandle {
        try .browser(endpoint: endpoint, p256dh: Base64.url.encode(publicKey), auth: Base64.url.encode(auth))
    }

    func subscription() throws -> BrowserSubscription {
        guard case .browser(let subscription) = try handle().value else { throw Unreadable(reason: "no browser") }
        return subscription
    }

    func secrets(of body: [UInt8]) throws -> Secrets {
        guard body.count >= 86 + 17, body.count <= 4096, Array(body[16..<20]) == [0, 0, 0x10, 0], body[20] == 65 else {
            throw Unreadable(reason: "no header of a single record of 4096")
        }
        let salt = Array(body[..<16])
        let sender = Array(body[21..<86])
        var secrets = Secrets()
        let shared = try key.sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PublicKey(x963Representation: sender))
        secrets.ecdh = shared.withUnsafeBytes { Array($0) }
        secrets.prkKey = mac(auth, secrets.ecdh)
        secrets.ikm = mac(secrets.prkKey, Array("WebPush: info\0".utf8) + publicKey + sender + [1])
        secrets.prk = mac(salt, secrets.ikm)
        secrets.cek = Array(mac(secrets.prk, Array("Content-Encoding: aes128gcm\0".utf8) + [1]).prefix(16))
        secrets.nonce = Array(mac(secrets.prk, Array("Content-Encoding: nonce\0".utf8) + [1]).prefix(12))
        return secrets
    }

    func decrypt(_ body: [UInt8]) throws -> [UInt8] {
        let secrets = try secrets(of: body)
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: secrets.nonce), ciphertext: body[86..<(body.count - 16)], tag: body.suffix(16))
        let record = [UInt8](try AES.GCM.open(box, using: SymmetricKey(data: secrets.cek)))
        // The last byte that is not padding (zeros) says that this is the last record.
        guard let end = record.lastIndex(where: { $0 != 0 }), record[end] == 2 else {
            throw Unreadable(reason: "no end of a last record")
        }
        return Array(record[..<end])
    }

    private func mac(_ key: [UInt8], _ text: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: key)))
    }
}

extension Browser {
    init() {
        self.init(key: P256.KeyAgreement.PrivateKey(), auth: (0..<16).map { _ in .random(in: .min ... .max) })
    }

    /// The same one for the same numbers.
    init(using random: inout some RandomNumberGenerator) throws {
        let secret = Self.bytes(32, using: &random)
        self.init(
            key: try P256.KeyAgreement.PrivateKey(rawRepresentation: secret), auth: Self.bytes(16, using: &random))
    }

    static func bytes(_ count: Int, using random: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in .random(in: .min ... .max, using: &random) }
    }
}
