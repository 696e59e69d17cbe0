// SPDX-License-Identifier: Apache-2.0
import HTTP
import Testing

@testable import BuiltInHub
@testable import Push

private struct Untrusted: TransportFailure {
    let isTransient = false
    let isUnsent = true
    let isPermanent = false
    let fault: ConnectionFault? = .untrustedIssuer
}

@Suite struct `A push service that is not trusted` {
    private let words = "is not trusted: its certificate has an issuer that this host does not trust; "

    @Test func `is the reason that its messages wait, also of one that comes later, until it answers`() throws {
        let sender = CredentialSender { _, _ in .failure(Untrusted()) }
        let bench = DeliveryBench(sender) { _ in PushResult(.unknownError) }
        for id in 1...3 { bench.register(id) }
        bench.start()
        let first = bench.send()
        let channel = try #require(bench.worker.allChannels.first)
        try bench.wait { try channel.outage != nil && bench.inFlight(first) == 0 }
        let ids = [first, bench.send()]
        let other = BuiltInHub(store: bench.store, worker: bench.worker, now: { 0 })
        for id in ids {
            try bench.wait { try other.message(id).waitReason?.hasPrefix("the push service \(words)") == true }
        }
        #expect(channel.outage?.cause == .connection && bench.worker.holds.isEmpty)
        #expect(bench.lines.count == 1 && bench.lines.first?.contains("no trusted connection for service: ") == true)
        sender.answer(201)
        bench.pass(600)
        for id in ids { #expect(try bench.outcomes(id) == ["Success": 3]) }
        #expect(channel.outage == nil)
        #expect(bench.lines.last == "push: there is a trusted connection for service again" && bench.lines.count == 2)
    }

    @Test func `of one browser keeps no other waiting, and is named by its host`() throws {
        let sender = ScriptedSender { request in
            request.authority == "bad.example" ? .failure(Untrusted()) : .success(Response(status: .created))
        }
        let bench = DeliveryBench(sender: sender)
        bench.register(1, tags: "bad", at: "https://bad.example/1")
        bench.register(2, tags: "good")
        bench.start()
        let waiting = bench.send("bad")
        let channel = try #require(bench.worker.allChannels.first)
        try bench.wait { channel.outage != nil }
        #expect(try bench.outcomes(bench.send("good")) == ["Success": 1])
        #expect(channel.outage?.reason.hasPrefix("bad.example \(words)") == true)
        #expect(channel.waitReason(of: "push.example") == nil)
        bench.pass(30 * 60 + 1)
        #expect(try bench.outcomes(waiting) == ["AbandonedNotificationMessages": 1])
        // No message waits for it any more.
        #expect(channel.outage == nil)
    }

    @Test func `is remembered for a bounded number of services`() {
        var outages = ChannelOutages()
        let outage = PushChannel.Outage(channel: "browser", cause: .connection, reason: "r", since: 0)
        let isNew = (0..<100).map { outages.begin("\($0).example", outage, at: .at(0)) }
        #expect(isNew.count(where: \.self) == ChannelOutages.maximum)
        #expect(outages.reason(of: "0.example") == "r" && outages.reason(of: "99.example") == nil)
        #expect(outages.first(at: ContinuousClock.Instant.at(1) + ChannelOutages.lifetime) == nil)
    }
}
