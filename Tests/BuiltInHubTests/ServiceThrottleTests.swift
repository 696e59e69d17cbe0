// SPDX-License-Identifier: Apache-2.0
import Push
import Testing

@testable import BuiltInHub

@Suite struct `What is known of push services` {
    @Test func `services that fail are forgotten, too, when they are many`() {
        var throttle = ServiceThrottle()
        let names = (0..<ServiceThrottle.maximumIdle * 3).map { "\($0).example" }
        for name in names {
            throttle.begin(name)
            throttle.end(name, PushResult(.pnsUnavailable, .retry(afterSeconds: nil)), now: .at(0))
        }
        #expect(throttle.inFlight == 0)
        #expect(names.count { throttle.backoffUntil($0, now: .at(0)) != nil } <= ServiceThrottle.maximumIdle)
    }

    @Test func `a service that is held is remembered before one that is well, and one under way always`() {
        var throttle = ServiceThrottle(limit: 1)
        throttle.begin("busy.example")
        throttle.begin("down.example")
        throttle.end("down.example", PushResult(.pnsUnavailable, .retry(afterSeconds: 30)), now: .at(0))
        for number in 0..<ServiceThrottle.maximumIdle * 3 {
            throttle.begin("\(number).example")
            throttle.end("\(number).example", PushResult(.success), now: .at(0))
        }
        #expect(throttle.backoffUntil("down.example", now: .at(0)) == .at(30))
        #expect(throttle.isFull("busy.example"))
    }

    @Test func `a service that was full has room again for a whole batch`() {
        var throttle = ServiceThrottle(limit: 10, batch: 3)
        for _ in 0..<10 {
            #expect(!throttle.isFull("push.example"))
            throttle.begin("push.example")
        }
        #expect(throttle.isFull("push.example") && !throttle.isFull("other.example"))
        for _ in 0..<2 { throttle.end("push.example", PushResult(.success), now: .at(0)) }
        #expect(throttle.isFull("push.example"))
        throttle.end("push.example", PushResult(.success), now: .at(0))
        #expect(!throttle.isFull("push.example"))
        throttle.begin("push.example")
        #expect(!throttle.isFull("push.example"))
    }

    @Test func `a service is given no more than may wait on this host, and more when a whole batch of it was sent`() {
        var throttle = ServiceThrottle(limit: 100, batch: 2, unsent: 6)
        throttle.note(unsent: 3, of: "channel apns")
        for _ in 0..<3 {
            #expect(!throttle.isFull("channel apns") && !throttle.isBackedUp)
            throttle.begin("channel apns")
        }
        #expect(throttle.isFull("channel apns") && throttle.isBackedUp)
        // Of others their number is not known.
        for _ in 0..<50 { throttle.begin("push.example") }
        #expect(!throttle.isFull("push.example"))
        // Answers do not tell that others were sent.
        throttle.end("channel apns", PushResult(.success), now: .at(0))
        throttle.note(unsent: 5, of: "channel apns")
        #expect(throttle.isFull("channel apns"))
        throttle.note(unsent: 4, of: "channel apns")
        #expect(!throttle.isFull("channel apns") && !throttle.isBackedUp)
    }

    @Test func `a service that has as many in flight as it may waits for answers, whatever was sent`() {
        var throttle = ServiceThrottle(limit: 4, batch: 1, unsent: 2)
        for _ in 0..<4 {
            throttle.note(unsent: 0, of: "channel fcm")
            throttle.begin("channel fcm")
        }
        throttle.note(unsent: 0, of: "channel fcm")
        #expect(throttle.isFull("channel fcm") && !throttle.isBackedUp)
        throttle.end("channel fcm", PushResult(.success), now: .at(0))
        #expect(!throttle.isFull("channel fcm"))
    }

    @Test func `a service that takes fewer at once is full sooner, and has room when half have ended`() {
        var throttle = ServiceThrottle(limit: 100, batch: 8)
        for _ in 0..<4 {
            #expect(!throttle.isFull("channel wns"))
            throttle.begin("channel wns", most: 4)
        }
        throttle.begin("channel fcm", most: 200)
        #expect(throttle.isFull("channel wns") && !throttle.isFull("channel fcm"))
        throttle.end("channel wns", PushResult(.success), now: .at(0))
        #expect(throttle.isFull("channel wns"))
        throttle.end("channel wns", PushResult(.success), now: .at(0))
        #expect(!throttle.isFull("channel wns"))
        for _ in 0..<99 { throttle.begin("channel fcm", most: 200) }
        #expect(throttle.isFull("channel fcm"))
    }
}
