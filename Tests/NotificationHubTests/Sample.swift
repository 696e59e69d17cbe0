// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NotificationHub
import Support
import Text

/// The hub's tags; the testing library has some of its own.
typealias Tag = NotificationHub.Tag

/// Values that many tests share. The key is invented.
enum Sample {
    static let key = "q3dLxT0V6m0r8Yp1Jw2Zf4nB7sKc9uHe5tGa+iQoX/M="
    static let keyName = "DefaultFullSharedAccessSignature"
    static let host = "contoso-ns.servicebus.windows.net"
    static let connection = "Endpoint=sb://\(host)/;SharedAccessKeyName=\(keyName);SharedAccessKey=\(key)"
    static let accessKey = SharedAccessKey(name: keyName, key: Secret(key), rights: .full)

    static let token = "62BCD3484834B7E2DC56733AC5509259230CC1BA82BA1AE7D06E91908A05A8FA"
    /// base64url of 0x04 and 64 bytes, and of 16 bytes.
    static let p256dh = Base64.url.encode([0x04] + [UInt8](repeating: 7, count: 64))
    static let auth = Base64.url.encode([UInt8](repeating: 9, count: 16))

    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension SeededRandom {
    /// One to four bytes changed, removed, doubled or put in.
    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &self)
            switch Int.random(in: 0..<5, using: &self) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 2: bytes.remove(at: index)
            case 3: bytes.insert(bytes[index], at: index)
            default:
                let end = Int.random(in: index...min(bytes.count - 1, index + 40), using: &self)
                bytes.insert(contentsOf: bytes[index...end], at: Int.random(in: bytes.indices, using: &self))
            }
        }
        return bytes
    }

    mutating func mutate(_ text: String) -> String {
        String(decoding: mutate([UInt8](text.utf8)), as: UTF8.self)
    }
}
