// SPDX-License-Identifier: Apache-2.0
import Push
import Testing

@testable import BuiltInHub

@Suite struct `What is known of push services` {
    @Test func `services that fail are forgotten, too, when they are many`() {
        var services = PushServices()
        let names = (0..<PushServices.maximumIdle * 3).map { "\($0).example" }
        for name in names {
            services.begin(name)
            services.end(name, PushResult(.pnsUnavailable, .retry(afterSeconds: nil)), now: 0)
        }
        #expect(services.underWay == 0)
        #expect(names.count { services.heldUntil($0, now: 0) != nil } <= PushServices.maximumIdle)
    }

    @Test func `a service that is held is remembered before one that is well, and one under way always`() {
        var services = PushServices(limit: 1)
        services.begin("busy.example")
        services.begin("down.example")
        services.end("down.example", PushResult(.pnsUnavailable, .retry(afterSeconds: 30)), now: 0)
        for number in 0..<PushServices.maximumIdle * 3 {
            services.begin("\(number).example")
            services.end("\(number).example", PushResult(.success), now: 0)
        }
        #expect(services.heldUntil("down.example", now: 0) == 30)
        #expect(services.isFull("busy.example"))
    }

    @Test func `a service that was full has room again for a whole batch`() {
        var services = PushServices(limit: 10, batch: 3)
        for _ in 0..<10 {
            #expect(!services.isFull("push.example"))
            services.begin("push.example")
        }
        #expect(services.isFull("push.example") && !services.isFull("other.example"))
        for _ in 0..<2 { services.end("push.example", PushResult(.success), now: 0) }
        #expect(services.isFull("push.example"))
        services.end("push.example", PushResult(.success), now: 0)
        #expect(!services.isFull("push.example"))
        services.begin("push.example")
        #expect(!services.isFull("push.example"))
    }
}
