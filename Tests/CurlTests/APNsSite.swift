// SPDX-License-Identifier: Apache-2.0
import APNs
import Curl
import Foundation
import HTTP
import NotificationHub
import Support
import Testing

import class System.Lock

/// A sender over libcurl and TLS to the stand-in for APNs, with a clock that the test moves.
final class APNsSite: Sendable {
    let double: APNsDouble
    let outcomes = Outcomes()
    private let port: Int
    private let start = ContinuousClock.now
    /// How far the clock that cannot be set is ahead, and how far the date is off, in seconds.
    private let time = Lock((ahead: Duration.zero, date: Int64(0)))

    /// - Parameter port: of a proxy before the stand-in.
    init(_ double: APNsDouble? = nil, port: Int? = nil) throws {
        let double = try double ?? APNsDouble()
        self.double = double
        self.port = port ?? double.port
    }

    /// Each is later than the one before, and none because the machine was busy.
    var instant: ContinuousClock.Instant {
        time.withLock {
            $0.ahead += .nanoseconds(1)
            return start + $0.ahead
        }
    }

    /// - Parameter seconds: how far the date in tokens is off.
    func setTime(later minutes: Int = 0, dateOff seconds: Int64 = 0) {
        time.withLock { $0 = ($0.ahead + .seconds(60 * minutes), seconds) }
    }

    func sender(_ options: CurlOptions? = nil, hasKey: Bool = true) -> APNsSender {
        let options = options ?? double.options()
        let now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) + self.time.withLock { $0.date } }
        return APNsSender(key: hasKey ? double.key : nil, now: now, instant: { self.instant }) {
            let transport = try CurlTransport(options)
            return APNsTransport(transport, close: { transport.close() })
        }
    }

    /// - Parameters:
    ///   - numbers: of the outcomes.
    ///   - kind: what the stand-in does with it, the beginning of the device's token.
    func push(_ sender: APNsSender, _ numbers: Range<Int>, as kind: String = "00", text: String = "x") throws {
        for number in numbers {
            let digits = String(number, radix: 16)
            let token = kind + String(repeating: "0", count: 64 - kind.count - digits.count) + digits
            let request = try double.driver(port).request(
                for: .apns(json: Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8)), to: DeviceHandle.apns(token))
            sender.send(request, outcomes.completion(number))
        }
    }

    /// One push, so that APNs trusts the connection.
    func begin(_ sender: APNsSender) throws {
        try push(sender, 0..<1)
        try outcomes.wait(for: 1)
        #expect(outcomes.statuses == [200])
    }

    /// Whether nothing happened that a real service would not forgive.
    func expectPeace() {
        #expect(double.events("protocol error").isEmpty && double.events("above limit").isEmpty)
        #expect(outcomes.calls.values.allSatisfy { $0 == 1 })
    }
}
