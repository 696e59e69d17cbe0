// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import FileStore
import Foundation
import HTTP
import HTTPTypes
import NotificationHub
import Support
import Testing

import class System.Lock

@testable import HubServer

/// What the REST face does beside the operations: rates, the log, and what of a send is for the push service.
@Suite struct `The served hub's face` {
    private let time = Lock(ContinuousClock.now)
    private let lines = Lock<[String]>([])

    private func bench(registrationsPerMinute: Int = 0) -> HubBench {
        var options = HubServer.Options()
        options.registrationsPerMinute = registrationsPerMinute
        let (time, lines) = (self.time, self.lines)
        return HubBench(
            isServed: true, options: options, clock: { time.withLock(\.self) },
            onRefused: { reason, id in lines.withLock { $0.append("\(id): \(reason)") } })
    }

    private func pass(_ seconds: Int) { time.withLock { $0 += .seconds(seconds) } }

    @Test func `a policy writes as many registrations as its rate lets it, and others are not concerned`() throws {
        let bench = bench(registrationsPerMinute: 6)
        func put(_ id: Int, key: String = "listen") -> Response {
            bench.ask(
                .put, "/myhub/registrations/\(id)-1-1", key: key, body: HubBench.entry(HubBench.apple("AA")))
        }
        func delete(_ id: Int) -> Response {
            bench.ask(.delete, "/myhub/registrations/\(id)-1-1", key: "listen", fields: ["If-Match": "*"])
        }
        let create = bench.ask(
            .post, "/myhub/registrations", key: "listen", body: HubBench.entry(HubBench.apple("AA")))
        #expect(create.status.code == 200)
        for id in 1...4 { #expect(put(id).status.code == 200) }
        #expect(delete(1).status.code == 200)
        for refused in [put(5), delete(2)] {
            #expect(refused.status.code == 429 && refused.fields[.retryAfter] == "10")
            #expect(try ErrorDocument(decoding: refused.body).code == "429")
        }
        #expect(bench.ask(.get, "/myhub/registrations/2-1-1", key: "listen").status.code == 200)
        #expect(bench.ask(.post, "/myhub/registrationids", key: "listen").status.code == 201)
        #expect(put(5, key: "full").status.code == 200)
        pass(10)
        #expect([put(6), put(7)].map(\.status.code) == [200, 429])
    }

    @Test(
        arguments: [
            ("https://other.example/myhub", "listen", nil, 60, "it is for a host that localHub.hosts does not name"),
            ("https://hub.example/other", "listen", nil, 60, "it is for another path than the request's"),
            ("https://hub.example/myhub", "unknown", nil, 60, "no policy of the hub has its key name"),
            ("https://hub.example/myhub", "listen", "another", 60, "no key of its policy has made it"),
            ("https://hub.example/myhub", "listen", nil, 0, "it has expired; both clocks must be right"),
            ("", "listen", nil, 60, "there is none"),
        ] as [(String, String, String?, Int64, String)])
    func `the operator learns why a signature is refused, and none of its text`(
        resource: String, key: String, secret: String?, seconds: Int64, reason: String
    ) throws {
        let bench = bench()
        let signed = HubBench.token(key, secret: secret, resource: resource, expiry: HubBench.now + seconds)
        let token = resource.isEmpty ? "" : signed
        for _ in 0..<100 {
            let response = bench.ask(
                .post, "/myhub/registrationids", token: token, fields: ["TrackingId": "abc"])
            #expect(response.status.code == 401)
            #expect(response.text.contains("ExpiredToken: ") == (seconds == 0))
            #expect(response.text.contains("InvalidSignature: ") == (seconds != 0))
        }
        let found = lines.withLock(\.self)
        #expect(Set(found) == ["abc: \(reason)"] && found.count == 30)
        pass(60)
        bench.ask(.post, "/myhub/registrationids", token: token)
        #expect(lines.withLock(\.count) == 31)
    }

    @Test(
        arguments: [
            (["ServiceBusNotification-Apns-Expiry": "01/02/2030 13:04:05"], ["apns-expiration": "1893589445"]),
            (["ServiceBusNotification-Apns-Expiry": "2030-01-02T13:04:05Z"], ["apns-expiration": "1893589445"]),
            (["servicebusnotification-apns-expiry": "11/22/2026 12:28:51"], ["apns-expiration": "1795350531"]),
            (["X-Apns-Expiration": "0"], ["apns-expiration": "0"]),
            (
                ["X-Apns-Priority": "5", "X-Apns-Push-Type": "background"],
                ["apns-priority": "5", "apns-push-type": "background"]
            ),
            (
                ["apns-priority": "10", "X-Apns-Priority": "5", "apns-expiration": "7", "X-Apns-Expiration": "8"],
                ["apns-priority": "10", "apns-expiration": "7"]
            ),
        ] as [([String: String], [String: String])])
    func `Apple's fields are taken in each SDK's spelling`(given: [String: String], sent: [String: String]) throws {
        var fields = HTTPFields()
        for (name, value) in given { fields[try #require(HTTPField.Name(name))] = value }
        let headers = try PushFields.headers(fields, .native(.apns))
        #expect(Dictionary(uniqueKeysWithValues: headers.map { ($0.name.lowercased(), $0.value) }) == sent)
        let others = try PushFields.headers(fields, .native(.fcm)).map { $0.name.lowercased() }
        #expect(others.allSatisfy { given.keys.contains($0) && $0.hasPrefix("apns-") })
    }

    @Test func `an expiry that is no time is refused, and one for another service is passed over`() {
        for (format, status) in [("apple", 400), ("windows", 201)] {
            let sent = bench().send(format, fields: ["ServiceBusNotification-Apns-Expiry": "tomorrow"])
            #expect(sent.status.code == status)
        }
    }
}

@Suite final class `A scheduled message that is cancelled` {
    private let path = NSTemporaryDirectory() + "/cancelled-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A hub with a clock of its own, at the queue of a worker.
    private func hub(_ bench: DeliveryBench, _ time: Lock<Int64>) -> HubBench {
        HubBench(store: bench.store, worker: bench.worker, isServed: true, now: { time.withLock(\.self) })
    }

    private func schedule(_ hub: HubBench) throws -> String {
        let fields = [
            "ServiceBusNotification-Format": "browser", "ServiceBusNotification-Tags": "all",
            "ServiceBusNotification-ScheduleTime": "2018-11-07T00:20:17",
        ]
        let sent = hub.ask(.post, "/myhub/schedulednotifications", key: "send", fields: fields, body: "{}")
        #expect(sent.status.code == 201)
        return sent.createdID
    }

    private func cancel(_ hub: HubBench, _ id: String) -> Response {
        let token = HubBench.token("send", expiry: HubBench.now + 3_600)
        return hub.ask(.delete, "/myhub/schedulednotifications/\(id)", token: token)
    }

    @Test(arguments: [false, true]) func `is never delivered, and is not there any more`(inFiles: Bool) throws {
        let bench: DeliveryBench
        if inFiles {
            bench = DeliveryBench(store: try FileSiteStore.open(path: path, options: .patient))
        } else {
            bench = DeliveryBench()
        }
        let hub = hub(bench, Lock(HubBench.now))
        DeliveryBench.register(1, hub)
        bench.start()
        let (id, kept) = (try schedule(hub), try schedule(hub))
        #expect(cancel(hub, id).status.code == 200)
        let again = cancel(hub, id)
        #expect(again.status.code == 404)
        #expect(try ErrorDocument(decoding: again.body).code == "404")
        #expect(hub.ask(.get, "/myhub/messages/\(id)").status.code == 404)
        bench.setClock(HubBench.now + 100)
        try bench.wait { try hub.details(kept).endTime != nil }
        #expect(bench.sender.requests.count == 1)
    }

    @Test func `is not found when its time has come, when it is of the other hub, and when it never was`() throws {
        let bench = DeliveryBench()
        let time = Lock(HubBench.now)
        let hub = hub(bench, time)
        let id = try schedule(hub)
        let foreign = try bench.schedule(notBefore: HubBench.now + 100)
        for other in ["1-2-3-4", "nothing", id + "0", foreign] {
            #expect(cancel(hub, other).status.code == 404, "\(other)")
        }
        time.withLock { $0 += 100 }
        #expect(cancel(hub, id).status.code == 404)
        time.withLock { $0 -= 1 }
        #expect(cancel(hub, id).status.code == 200)
    }
}
