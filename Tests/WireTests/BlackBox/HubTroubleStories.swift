// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import Foundation
import Glibc
import HTTPTypes
import JSON
import Testing

extension WireTests {
    /// Calls while the hub does not do its part. Each has a site of its own.
    struct HubTroubleStories {
        @Test func `the hub is down, the answer says when to come back, and nothing is lost`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                let handle = site.makeHandle()
                let id = try site.register(alice, handle: handle)
                site.hubDoor.stop()

                let text = site.secrets.make("kept ")
                let send = try site.call(.post, Path.notifications, as: alice, body: "\"\(text)\"")
                #expect(send.status == .serviceUnavailable)
                #expect(send.fields[.retryAfter].flatMap { Int($0) } ?? 0 > 0)
                #expect(send.fields[.contentType] == Problem.contentType)
                let kept = try #require(try SendOutcome(send).id)
                #expect(try site.readSecure(kept, as: alice) == text)
                let put = try site.put(id, handle: handle, as: alice)
                #expect(put.status == .serviceUnavailable && put.fields[.retryAfter] != nil)
                #expect(try site.call(.post, Path.register, as: alice).status == .serviceUnavailable)
                // What needs no hub goes on.
                let list = try JSONValue(parsing: site.call(.get, Path.register, as: alice).body).array
                #expect(list?.first?["RegistrationId"]?.string == id)
                #expect(site.backend.log.contains("hub: no answer: "))
            }
        }

        @Test func `the hub is silent, the deadline ends the call, and the backend lives`() async throws {
            try await WireSite.run(WireSite.Options(hubTimeout: 1)) { site in
                let alice = try site.addUser("alice")
                site.hub.signal(SIGSTOP)
                defer { site.hub.signal(SIGCONT) }
                #expect(try site.call(.post, Path.register, as: alice).status == .serviceUnavailable)
                #expect(try site.health()["status"]?.string == "ok")
            }
        }

        @Test func `a wrong key is the operator's affair: 502, and the log names it without the key`() async throws {
            let key = "the-wrong-key-" + UUID().uuidString
            try await WireSite.run(WireSite.Options(hubKey: key)) { site in
                let alice = try site.addUser("alice")
                for answer in [
                    try site.call(.post, Path.register, as: alice),
                    try site.call(
                        .post, Path.notifications, query: "pns=apns&to_tag=\(alice.name)", as: alice, body: "\"x\""),
                ] {
                    #expect(answer.status == .badGateway)
                    let body = String(decoding: answer.body, as: UTF8.self).lowercased()
                    for word in ["key", "signature", "unauthorized", "401", "localhost", WireSite.hubName] {
                        #expect(!body.contains(word), "\(word)")
                    }
                }
                #expect(site.backend.log.contains("hub: the key, or its rights, are not accepted"))
            }
        }
    }
}
