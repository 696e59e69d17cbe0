// SPDX-License-Identifier: Apache-2.0
import Crypto
import Glibc
import NotificationHub
import Text
import WebPush

/// What `script/bench push` needs beside the responder: browsers that are none, and what a push costs before it is sent.
///
///     web-push-bench keys COUNT              writes a line `<p256dh> <auth>` for each of so many browsers
///     web-push-bench cost SECONDS BYTES      writes `encrypt <µs> request <µs>`: processor time of one thread per message
@main struct WebPushBench {
    /// Browsers that the messages go to in turn: as many as keep a cache of points from helping.
    private static let browsers = 64

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        switch (arguments.first, numbers.count) {
        case ("keys", 1):
            for _ in 0..<max(0, numbers[0]) {
                let keys = browserKeys()
                print(keys.p256dh, keys.auth)
            }
        case ("cost", 2): try writeCost(seconds: numbers[0], bytes: numbers[1])
        default: exit(64)
        }
    }

    private static func browserKeys() -> (p256dh: String, auth: String) {
        let key = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
        return (Base64.url.encode(key), Base64.url.encode(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }))
    }

    private static func writeCost(seconds: Int, bytes: Int) throws {
        let devices = try (0..<browsers).map { number in
            let keys = browserKeys()
            return try DeviceHandle.browser(
                endpoint: "https://push.example/\(number)", p256dh: keys.p256dh, auth: keys.auth)
        }
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: max(0, bytes))
        let notification = HubNotification.browser(json: text)
        let driver = WebPushDriver(
            key: VAPIDKey(), subject: try VAPIDSubject("mailto:push@example.com"),
            hosts: try PushHosts(["push.example"]), now: { Int64(time(nil)) })
        let encrypt = try microseconds(seconds) { number in
            guard case .browser(let subscription) = devices[number % browsers].value else { exit(70) }
            return try MessageEncryption().encrypt(text, for: subscription).count
        }
        let request = try microseconds(seconds) { number in
            try driver.request(for: notification, to: devices[number % browsers]).body.count
        }
        print("encrypt", encrypt, "request", request)
    }

    /// What one call takes of the processor, on average over so many seconds of it.
    private static func microseconds(_ seconds: Int, _ body: (Int) throws -> Int) throws -> Double {
        let start = processorTime()
        var (calls, bytes) = (0, 0)
        while processorTime() < start + Double(seconds) {
            for _ in 0..<browsers {
                bytes += try body(calls)
                calls += 1
            }
        }
        guard bytes > 0 else { exit(70) }
        return (processorTime() - start) * 1e6 / Double(calls)
    }

    /// Of this thread, in seconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
