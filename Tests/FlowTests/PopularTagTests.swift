// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes
import NotificationHub
import Store
import Synchronization
import Testing
import Text

// Testing has a type of this name too.
private typealias Tag = NotificationHub.Tag

/// What a user can name costs what the user owns, however many devices of others bear the same name.
struct PopularTagTests {
    struct Cost: Equatable {
        var storeCalls = 0
        var hubCalls: [String] = []
    }

    /// More than the hub lists on a page.
    static let devicesOfOthers = 130

    /// What the older call costs the store and the hub, the second time that alice makes it.
    private func cost(besides count: Int, instID: String) throws -> Cost {
        let calls = CallCount()
        let site = try TestSite(adjusting: { $0.store = TroubledStore(inner: $0.store, calls: calls) })
        for number in 0..<count {
            let (id, owner) = ("9-\(number)-1", "user\(number / 50)")
            let handle = TestSite.token(1_000 + number)
            _ = try site.store.putDevice(
                DeviceRecord(
                    id: id, owner: owner, platform: "apns", handle: handle, tags: [instID], installationID: instID,
                    updatedAt: Timestamp(seconds: site.clock.seconds)))
            _ = try site.hubClient.createOrUpdate(
                RegistrationDescription(
                    id: RegistrationID(id), tags: [try Tag(instID), try Tag("username:\(owner)")],
                    handle: try .apns(handle), template: Template(body: "{}")))
        }
        let body = #"{"platform":"ios","instId":"\#(instID)","deviceToken":"\#(TestSite.token(1))"}"#
        #expect(site.call(.post, "/api/register", as: "alice", body: body).status == .ok)
        let (storeCalls, hubCalls) = (calls.number.load(ordering: .relaxed), site.hub.requests.count)
        #expect(site.call(.post, "/api/register", as: "alice", body: body).status == .ok)
        return Cost(
            storeCalls: calls.number.load(ordering: .relaxed) - storeCalls,
            hubCalls: site.hub.requests.dropFirst(hubCalls).map { request in
                // The id is a new one in each site.
                "\(request.method) \(request.path.split(separator: "/").prefix(2))"
            })
    }

    @Test func `the older call costs the same however many devices of others have its installation id`() throws {
        let alone = try cost(besides: 0, instID: "news")
        #expect(try cost(besides: Self.devicesOfOthers, instID: "news") == alone)
        #expect(alone.storeCalls > 0 && !alone.hubCalls.isEmpty)
    }
}
