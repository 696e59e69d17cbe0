// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Support
import Synchronization
import Testing
import Text

/// Webhooks of messages that the hub sends later.
struct LaterEventTests {
    @Test func `the outcome of a message for later is waited for from its time on, for a day`() throws {
        let receiver = Receiver()
        let asked = Atomic(0)
        let site = try TestSite(
            adjusting: { parts in
                parts.notifications.sendAt = parts.now() + 3 * 86_400
                parts.webhooks = try? receiver.webhooks(parts, [.messageCompleted], receivers: 1)
            },
            surroundingHub: { hub in
                ClosureResponder { request in
                    guard request.method == .get, request.path.contains("/messages/") else {
                        return try hub.respond(to: request)
                    }
                    asked.add(1, ordering: .relaxed)
                    return Response(status: .notFound)
                }
            })
        _ = try site.register("alice")
        #expect(site.send(PushMessage(to: "alice", body: "Hi", platforms: ["apns"])).status == .ok)
        try receiver.during(site) {
            // As long as the hub is asked, the event waits.
            for seconds in [86_400, 600, 86_400, 600, 86_400, 600] as [Int64] {
                let before = asked.load(ordering: .relaxed)
                site.clock.advance(seconds)
                #expect(Deadline.poll(seconds: 60) { asked.load(ordering: .relaxed) > before })
            }
            #expect(receiver.told.isEmpty)
            site.clock.advance(86_400)
            let told = try receiver.await(1)
            #expect(told[0].data["Outcomes"]?.array?.first?["State"]?.string == "Enqueued")
        }
    }
}
