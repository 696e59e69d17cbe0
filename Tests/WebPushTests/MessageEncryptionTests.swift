// SPDX-License-Identifier: Apache-2.0
import Crypto
import NotificationHub
import Support
import Testing
import Text

@testable import WebPush

/// RFC 8291, appendix A.
private enum Vector {
    static let text = "When I grow up, I want to be a watermelon"
    static let serverKey = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    static let browserKey = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    static let browserPublicKey =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
    static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
    static let ecdh = "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"
    static let prkKey = "Snr3JMxaHVDXHWJn5wdC52WjpCtd2EIEGBykDcZW32k"
    static let ikm = "S4lYMb_L0FxCeq0WhDx813KgSYqU26kOyzWUdsXYyrg"
    static let prk = "09_eUZGrsvxChDCGRCdkLiDXrReGOEVeSCdCcPBSJSc"
    static let cek = "oIhVW04MRdy2XN9CiKLxTg"
    static let nonce = "4h_95klXJ5E_qnoN"
    static let body =
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"

    static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.url.decode(text)) }

    static func browser() throws -> Browser {
        Browser(key: try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(browserKey)), auth: try bytes(auth))
    }

    static func encryption() throws -> MessageEncryption {
        let sender = try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(serverKey))
        return MessageEncryption(sender: sender, salt: try bytes(salt))
    }
}

@Suite struct `The example of RFC 8291` {
    @Test func `comes out byte for byte`() throws {
        let body = try Vector.encryption().encrypt(Array(Vector.text.utf8), for: Vector.browser().subscription())
        #expect(Base64.url.encode(body) == Vector.body)
    }

    @Test func `has our keys on its way`() throws {
        let encryption = try Vector.encryption()
        let point = try Vector.bytes(Vector.browserPublicKey)
        let material = try encryption.keyingMaterial(browserKey: point, auth: Vector.bytes(Vector.auth))
        let keys = encryption.contentKeys(material)
        #expect(material.withUnsafeBytes { Base64.url.encode($0) } == Vector.ikm)
        #expect(keys.key.withUnsafeBytes { Base64.url.encode($0) } == Vector.cek)
        #expect(Base64.url.encode(keys.nonce) == Vector.nonce)
    }

    @Test func `is read by the browser of these tests, by the same steps`() throws {
        let browser = try Vector.browser()
        let body = try Vector.bytes(Vector.body)
        let secrets = try browser.secrets(of: body)
        #expect(Base64.url.encode(browser.publicKey) == Vector.browserPublicKey)
        #expect(Base64.url.encode(secrets.ecdh) == Vector.ecdh)
        #expect(Base64.url.encode(secrets.prkKey) == Vector.prkKey)
        #expect(Base64.url.encode(secrets.ikm) == Vector.ikm)
        #expect(Base64.url.encode(secrets.prk) == Vector.prk)
        #expect(Base64.url.encode(secrets.cek) == Vector.cek)
        #expect(Base64.url.encode(secrets.nonce) == Vector.nonce)
        #expect(try browser.decrypt(body) == Array(Vector.text.utf8))
    }
}

@Suite struct `An encrypted message` {
    @Test func `is read again by its browser, whatever keys, text and size`() throws {
        var random = SeededRandom(seed: 8291)
        for round in 0..<300 {
            let browser = try Browser(using: &random)
            let size = round < 40 ? round : Int.random(in: 0...MessageEncryption.maximumPlaintext, using: &random)
            let text = Browser.bytes(size, using: &random)
            let body = try MessageEncryption().encrypt(text, for: browser.subscription())
            #expect(body.count == 86 + size + 1 + 16)
            #expect(try browser.decrypt(body) == text)
        }
    }

    @Test func `is read by no other browser, and not after one bit has changed`() throws {
        var random = SeededRandom(seed: 8188)
        let browser = try Browser(using: &random)
        let body = try MessageEncryption().encrypt(Array("text".utf8), for: browser.subscription())
        #expect(throws: (any Error).self) { try Browser(using: &random).decrypt(body) }
        let sameKey = Browser(key: browser.key, auth: Browser.bytes(16, using: &random))
        #expect(throws: (any Error).self) { try sameKey.decrypt(body) }
        for bit in 0..<(body.count * 8) {
            var changed = body
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: (any Error).self) { try browser.decrypt(changed) }
        }
    }

    @Test func `is never the same twice`() throws {
        let subscription = try Browser().subscription()
        let bodies = try (0..<64).map { _ in try MessageEncryption().encrypt([1, 2, 3], for: subscription) }
        #expect(Set(bodies.map { Array($0[..<16]) }).count == 64)
        #expect(Set(bodies.map { Array($0[21..<86]) }).count == 64)
    }

    @Test func `has at most 3993 bytes of text, which make a body of 4096`() throws {
        let browser = Browser()
        #expect(MessageEncryption.maximumPlaintext == 3993)
        #expect(MessageEncryption.maximumPlaintext == Platform.browser.maximumPayload)
        let largest = [UInt8](repeating: 1, count: 3993)
        let body = try MessageEncryption().encrypt(largest, for: browser.subscription())
        #expect(body.count == 4096)
        #expect(try browser.decrypt(body) == largest)
        #expect(throws: MessageEncryption.Failure.tooLarge) {
            try MessageEncryption().encrypt(largest + [1], for: browser.subscription())
        }
    }

    @Test func `is not made with a key that is not on the curve`() throws {
        var random = SeededRandom(seed: 256)
        for _ in 0..<100 {
            let point = [4] + Browser.bytes(64, using: &random)
            let handle = try DeviceHandle.browser(
                endpoint: "https://fcm.googleapis.com/x", p256dh: Base64.url.encode(point),
                auth: Base64.url.encode(Browser.bytes(16, using: &random)))
            guard case .browser(let subscription) = handle.value else { continue }
            #expect(throws: MessageEncryption.Failure.unusableKeys) {
                try MessageEncryption().encrypt([], for: subscription)
            }
        }
    }
}
