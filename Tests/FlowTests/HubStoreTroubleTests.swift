// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Support
import Testing

/// The built-in hub on a disk that is full or fails: callers read that the store cannot be used, and the log says why.
struct HubStoreTroubleTests {
    static let errors: [StoreError] = [
        .full, .readOnly, .poisoned, .busy(retryAfterSeconds: 7), .unavailable(detail: "write hub/messages: EIO"),
        .damaged(detail: "hub/messages"), .notReady(detail: "no tables"),
    ]

    private func send(_ site: TestSite, key: String? = nil) -> Response {
        var fields = HTTPFields()
        fields[.idempotencyKey] = key
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

    @Test(arguments: errors, TestSite.Road.allCases)
    func `a store that fails beneath the hub is 503 at every operation, and logged`(
        error: StoreError, road: TestSite.Road
    ) throws {
        let log = CollectedLog()
        let site = try TestSite(road: road) { $0.logger = log.logger }
        let calls = try calls(site)
        site.hubStore.begin(error)
        for (name, call) in calls {
            let (reported, logged) = (site.hubReports.count, log.lines.count)
            let answer = call()
            #expect(answer.status == .serviceUnavailable, "\(name)")
            #expect(answer.fields[.retryAfter] == (error == .busy(retryAfterSeconds: 7) ? "7" : "10"), "\(name)")
            let isBusy = error == .busy(retryAfterSeconds: 7)
            // A hub that is called over the wire says no more than a stranger's would.
            let code: ProblemCode = road == .wire ? .hubUnavailable : isBusy ? .storeBusy : .storeUnavailable
            #expect(Problem(answer).code == code, "\(name)")
            let reports = site.hubReports.dropFirst(reported)
            let lines = log.lines.dropFirst(logged)
            #expect(!lines.isEmpty && lines.allSatisfy { $0.request == "test" && $0.level == .warning }, "\(name)")
            switch road {
            // The hub's own log has the cause; the backend heard of it what a client hears.
            case .wire: #expect(!reports.isEmpty && reports.allSatisfy { $0 == "test: \(error)" }, "\(name)")
            case .direct: #expect(lines.allSatisfy { $0.text.hasPrefix("hub: \(error) ") }, "\(name)")
            }
        }
        site.hubStore.heal()
        for (name, call) in calls { #expect(call().status == .ok, "\(name)") }
    }

    @Test(arguments: [StoreError.full, .readOnly, .busy(retryAfterSeconds: 1)], TestSite.Road.allCases)
    func `a message that the hub could certainly not keep may be sent again with its key`(
        error: StoreError, road: TestSite.Road
    ) throws {
        let site = try TestSite(road: road)
        _ = try site.register("bob")
        site.hubStore.begin(error)
        #expect(send(site, key: "k").status == .serviceUnavailable)
        site.hubStore.heal()
        let again = send(site, key: "k")
        #expect(again.status == .ok && !again.isReplayed)
    }

    @Test(arguments: [StoreError.poisoned, .unavailable(detail: "write: EIO")], TestSite.Road.allCases)
    func `a message of which the disk may have kept something is not sent again`(
        error: StoreError, road: TestSite.Road
    ) throws {
        let site = try TestSite(road: road)
        _ = try site.register("bob")
        site.hubStore.begin(error)
        #expect(send(site, key: "k").status == .serviceUnavailable)
        site.hubStore.heal()
        let again = send(site, key: "k")
        #expect(again.status == .serviceUnavailable && again.isReplayed)
    }
}
