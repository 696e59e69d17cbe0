import Curl
import Foundation
import HTTP
import Support
import Testing

// SPDX-License-Identifier: Apache-2.0
@testable import APNs

@Suite struct `A connection that APNs ends` {
    /// How often APNs has processed the push to each device.
    private func processed(_ site: APNsSite) -> [String: Int] {
        site.double.events("answer").reduce(into: [:]) { $0[$1.device, default: 0] += 1 }
    }

    @Test func `by GOAWAY finishes what it has taken, and the rest goes once over another one`() throws {
        let site = try APNsSite(APNsDouble(goAwayAt: 200, goAwayAnswered: 100))
        let sender = site.sender()
        try site.begin(sender)
        try site.push(sender, 1..<201, as: "c005")
        try site.outcomes.wait(for: 200)
        sender.close()
        #expect(site.outcomes.statuses.count == 201 && site.outcomes.statuses.allSatisfy { $0 == 200 })
        #expect(processed(site).count == 201 && processed(site).values.allSatisfy { $0 == 1 })
        let connections = site.double.events("answer").map(\.connection)
        #expect(connections == Array(repeating: 1, count: 101) + Array(repeating: 2, count: 100))
        // Those that are above the last stream have come twice, and no other.
        let pushes = site.double.events("push").filter { $0.connection == 1 }
        let last = try #require(site.double.events("goaway").first?.json["last"]?.integer)
        let above = pushes.filter { ($0.json["stream"]?.integer ?? 0) > last }
        #expect(above.count == 100)
        let again = site.double.events("push").filter { $0.connection == 2 }
        #expect(Set(again.map(\.device)) == Set(above.map(\.device)) && again.count == 100)
        // One alone tries out the other connection.
        let order = site.double.events.filter { $0.connection == 2 && ["push", "answer"].contains($0.name) }
        #expect(order.map(\.name).prefix(3) == ["push", "answer", "push"])
        site.expectPeace()
    }

    @Test func `by a GOAWAY that takes nothing sends no push twice, whatever libcurl tells of it`() throws {
        let site = try APNsSite(APNsDouble(goAwayAt: 50))
        let sender = site.sender()
        try site.begin(sender)
        try site.push(sender, 1..<51, as: "c005")
        try site.outcomes.wait(for: 50)
        sender.close()
        #expect(processed(site).values.allSatisfy { $0 == 1 })
        // libcurl 7.88 calls the stream with which the connection ends a fault of the protocol.
        #expect(site.outcomes.statuses.count { $0 == 200 } >= 50)
        #expect(site.outcomes.failures.allSatisfy { !$0.isUnsent })
        site.expectPeace()
    }

    @Test func `by refusing streams gets none of them there, and each goes once over another one`() throws {
        let site = try APNsSite()
        let sender = site.sender()
        try site.begin(sender)
        try site.push(sender, 1..<51, as: "c002")
        try site.outcomes.wait(for: 50)
        sender.close()
        #expect(site.outcomes.statuses.count == 51 && site.outcomes.statuses.allSatisfy { $0 == 200 })
        #expect(processed(site).count == 51 && processed(site).values.allSatisfy { $0 == 1 })
        let limit = 1 + 50 * (1 + ConnectionSchedule.maximumResends)
        #expect(site.double.events("push").count <= limit)
        site.expectPeace()
    }

    @Test func `by refusing a push each time gets it three times, and the caller hears that it was not taken`() throws {
        let site = try APNsSite()
        let sender = site.sender()
        try site.begin(sender)
        try site.push(sender, 1..<2, as: "c006")
        try site.outcomes.wait(for: 1)
        try site.push(sender, 2..<3)
        try site.outcomes.wait(for: 1)
        sender.close()
        #expect(site.outcomes.statuses == [200, nil, 200])
        let failure = try #require(site.outcomes.failures.first)
        #expect(failure.isUnsent && failure.kind == "refused")
        let sendings = site.double.events("push").filter { $0.device.hasPrefix("c006") }
        #expect(sendings.map(\.connection) == [1, 2, 3])
        site.expectPeace()
    }

    @Test func `in the handshake was sent nothing, and the next push gets another one`() throws {
        let double = try APNsDouble()
        let proxy = try CuttingProxy(to: UInt16(clamping: double.port))
        defer { proxy.stop() }
        let site = try APNsSite(double, port: Int(proxy.port))
        proxy.cut { true }
        let sender = site.sender()
        try site.push(sender, 0..<1)
        try site.outcomes.wait(for: 1)
        try site.push(sender, 1..<2)
        try site.outcomes.wait(for: 1)
        sender.close()
        #expect(site.outcomes.statuses == [nil, 200])
        #expect(site.outcomes.failures.first?.isUnsent == true)
        #expect(site.double.events("push").count == 1)
    }
}

@Suite struct `A connection that APNs keeps` {
    @Test func `carries what is under way when it is narrowed to one stream, and then one push after another`() throws {
        let site = try APNsSite()
        let sender = site.sender()
        try site.begin(sender)
        try site.push(sender, 1..<201, as: "d0")
        _ = site.double.events("push", atLeast: 201)
        try site.push(sender, 201..<202, as: "de")
        try site.push(sender, 202..<302)
        try site.outcomes.wait(for: 301)
        sender.close()
        #expect(site.outcomes.statuses.count == 302)
        #expect(site.outcomes.statuses.enumerated().allSatisfy { $1 == ($0 == 201 ? 400 : 200) })
        #expect(site.double.events("connection").count == 1)
        #expect(site.double.events("push").count == 302)
        let limits = site.double.events("limit").compactMap { $0.json["streams"]?.integer }
        #expect(Array(limits.drop { $0 == 1 }.prefix(3)) == [1000, 1, 1000])
        site.expectPeace()
    }

    @Test func `is used on while one push of many gets no answer`() throws {
        try Patience.withMoreTime { timeout in
            let site = try APNsSite()
            let sender = site.sender(site.double.options(timeout: timeout * 4))
            try site.push(sender, 0..<1)
            try site.outcomes.wait(for: 1)
            try site.push(sender, 1..<2, as: "c001")
            // Answered while the silent one is under way, so the connection is not to blame.
            try site.push(sender, 2..<50)
            try site.outcomes.wait(for: 49)
            try site.push(sender, 50..<51)
            try site.outcomes.wait(for: 1)
            sender.close()
            let statuses = site.outcomes.statuses
            return statuses.count == 51 && statuses.enumerated().allSatisfy { $1 == ($0 == 1 ? nil : 200) }
                && site.double.events("connection").count == 1
                && site.outcomes.failures.map(\.kind) == ["timeout"]
        }
    }
}
