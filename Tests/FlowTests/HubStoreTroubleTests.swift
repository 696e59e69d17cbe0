// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Testing

/// The built-in hub on a disk that is full or fails: callers read that the hub is not available, and the log says why.
struct HubStoreTroubleTests {
    static let errors: [StoreError] = [
        .full, .readOnly, .poisoned, .busy(retryAfterSeconds: 7), .unavailable(detail: "write hub/messages: EIO"),
        .damaged(detail: "hub/messages"), .notReady(detail: "no tables"),
    ]

    private func send(_ site: TestSite, key: String? = nil) -> Response {
        var fields = HTTPFields()
        fields[.key] = key
        return site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=bob", as: "alice", body: #""Hello""#, fields: fields)
    }

    /// Every operation of the hub that the backend uses.
    private func calls(_ site: TestSite) throws -> [(name: String, call: () -> Response)] {
        let id = try site.register("bob")
        let sent = try #require(try SendOutcome(send(site)).outcomes.first?.notificationID)
        let put = DeviceRegistration(platform: "apns", handle: TestSite.token(2)).json
        return [
            ("plain send", { send(site) }),
            (
                "secure send",
                { site.call(.post, "/api/notifications", query: "to_tag=bob", as: "alice", body: #""Hi""#) }
            ),
            ("outcome", { site.call(.get, "/api/notifications/outcomes/\(sent)", as: "alice") }),
            (
                "registration id",
                { site.call(.post, "/api/register", query: "handle=\(TestSite.token(1))", as: "bob") }
            ),
            (
                "update",
                { site.call(.put, "/api/register/\(id)", as: "bob", body: String(decoding: put, as: UTF8.self)) }
            ),
            ("removal", { site.call(.delete, "/api/register/\(id)", as: "bob") }),
        ]
    }

    @Test(arguments: errors) func `a store that fails beneath the hub is 503 at every operation, and logged`(
        error: StoreError
    ) throws {
        let site = try TestSite()
        let calls = try calls(site)
        site.hubStore.begin(error)
        for (name, call) in calls {
            let reported = site.hubReports.count
            let answer = call()
            #expect(answer.status == .serviceUnavailable, "\(name)")
            #expect(answer.fields[.retryAfter] == (error == .busy(retryAfterSeconds: 7) ? "7" : "10"), "\(name)")
            #expect(Problem(answer).detail == "The hub is not available at present.", "\(name)")
            let new = site.hubReports.dropFirst(reported)
            #expect(!new.isEmpty && new.allSatisfy { $0 == "test: \(error)" }, "\(name)")
        }
        site.hubStore.heal()
        for (name, call) in calls { #expect(call().status == .ok, "\(name)") }
    }

    @Test(arguments: [StoreError.full, .readOnly, .busy(retryAfterSeconds: 1)])
    func `a message that the hub could certainly not keep may be sent again with its key`(error: StoreError) throws {
        let site = try TestSite()
        _ = try site.register("bob")
        site.hubStore.begin(error)
        #expect(send(site, key: "k").status == .serviceUnavailable)
        site.hubStore.heal()
        let again = send(site, key: "k")
        #expect(again.status == .ok && !again.isReplayed)
    }

    @Test(arguments: [StoreError.poisoned, .unavailable(detail: "write: EIO")])
    func `a message of which the disk may have kept something is not sent again`(error: StoreError) throws {
        let site = try TestSite()
        _ = try site.register("bob")
        site.hubStore.begin(error)
        #expect(send(site, key: "k").status == .serviceUnavailable)
        site.hubStore.heal()
        let again = send(site, key: "k")
        #expect(again.status == .serviceUnavailable && again.isReplayed)
    }
}
