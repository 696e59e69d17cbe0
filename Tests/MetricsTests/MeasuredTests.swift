// SPDX-License-Identifier: Apache-2.0
import FileStore
import Glibc
import HTTP
import HTTPTypes
import Metrics
import NotificationHub
import Push
import Store
import Testing

import class System.Lock

/// Decorators: what they surround behaves as before, and is counted.
struct MeasuredTests {
    /// A clock that goes on by a second at each look.
    private final class TickingClock: Sendable {
        private let now = Lock(ContinuousClock.now)

        var look: @Sendable () -> ContinuousClock.Instant {
            { [self] in
                now.withLock { now in
                    now += .seconds(1)
                    return now
                }
            }
        }
    }

    private struct Failure: Error {}

    private let metrics = SiteMetrics(version: "1", startedAt: 0)

    private func value(_ series: String) -> Double? {
        let lines = String(decoding: metrics.exposition(), as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix(series + " ") }.flatMap { Double($0.dropFirst(series.utf8.count + 1)) }
    }

    @Test func `a request's time is that of the monotonic clock`() throws {
        let router = Router<RequestAction>([Route(.get, "/a/{id}") { _, _ in Response(status: .noContent) }])
        let responder = metrics.requests.measuring(router, clock: TickingClock().look)
        let request = Request(method: .get, path: "/a/1")
        #expect(try responder.respond(to: request).status == .noContent)
        #expect(value(#"app_backend_request_duration_seconds_sum{route="/a/{id}",method="GET"}"#) == 1)
        #expect(value(#"app_backend_requests_total{route="/a/{id}",method="GET",code="204"}"#) == 1)
    }

    @Test func `what a responder throws is counted as the status that it becomes, and thrown`() {
        let router = Router<RequestAction>([Route(.get, "/a") { _, _ in throw Failure() }])
        #expect(throws: Failure.self) {
            try metrics.requests.measuring(router).respond(to: Request(method: .get, path: "/a"))
        }
        #expect(value(#"app_backend_requests_total{route="other",method="GET",code="500"}"#) == 1)
    }

    /// Over since it began.
    private final class Wait: Postponement {
        let began: ContinuousClock.Instant
        let source = ""

        init(_ began: ContinuousClock.Instant) { self.began = began }

        func onEnd(_ resume: @escaping @Sendable () -> Void) { resume() }
    }

    @Test func `a request that was put off counts once, with the time that it has waited`() throws {
        let clock = TickingClock()
        let wait = Wait(clock.look())
        let inner = ClosureResponder { request in
            var response = Response()
            if case .available = request.postponing { response.postponement = wait }
            return response
        }
        let responder = metrics.requests.measuring(inner, clock: clock.look)
        var request = Request(method: .get, path: "/a")
        request.postponing = .available
        #expect(try responder.respond(to: request).postponement === wait)
        #expect(value(#"app_backend_requests_total{route="other",method="GET",code="200"}"#) == nil)
        request.postponing = .resumed(wait)
        #expect(try responder.respond(to: request).postponement == nil)
        #expect(value(#"app_backend_requests_total{route="other",method="GET",code="200"}"#) == 1)
        #expect(value(#"app_backend_request_duration_seconds_sum{route="other",method="GET"}"#) == 2)
    }

    @Test func `calls to the hub that go out together are counted each`() {
        struct Sender: RequestSender {
            func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
                completion(request.body.isEmpty ? .failure(Failure()) : .success(Response(status: .created)))
            }
        }
        let sender = metrics.hub.measuring(Sender(), clock: TickingClock().look)
        for body: [UInt8] in [[1], [], [2]] {
            sender.send(Request(method: .post, path: "/h/messages", body: body)) { _ in }
        }
        #expect(value(#"app_backend_hub_calls_total{operation="send",result="201"}"#) == 2)
        #expect(value(#"app_backend_hub_calls_total{operation="send",result="failed"}"#) == 1)
        #expect(value(#"app_backend_hub_call_duration_seconds_sum{operation="send"}"#) == 3)
    }

    @Test func `who listens hears of each answer`() throws {
        let heard = Lock<[String]>([])
        let router = Router<RequestAction>([Route(.put, "/a/{id}") { _, _ in Response() }])
        let responder = metrics.requests.measuring(router, clock: TickingClock().look) { answer in
            heard.withLock {
                $0.append(
                    "\(answer.requestID) \(answer.method) \(answer.route) \(answer.status.code) \(answer.duration)")
            }
        }
        _ = try responder.respond(to: Request(method: .put, path: "/a/secret", id: "77"))
        let lines = heard.withLock { $0 }
        #expect(lines == ["77 PUT /a/{id} 200 1.0 seconds"])
    }

    @Test(
        arguments: [
            (.post, "/h/registrationids", .createRegistrationID), (.put, "/h/registrations/1", .putRegistration),
            (.get, "/h/registrations/1", .readRegistration), (.delete, "/h/registrations/1", .deleteRegistration),
            (.get, "/h/registrations", .listRegistrations), (.get, "/h/tags/a/registrations", .listRegistrations),
            (.post, "/h/messages", .send), (.get, "/h/messages/1", .readMessage), (.get, "/h/jobs", .other),
            (.post, "/", .other),
        ] as [(HTTPRequest.Method, String, HubOperation)])
    func `a call to the hub is known by method and path`(
        method: HTTPRequest.Method, path: String, operation: HubOperation
    ) {
        #expect(HubOperation(Request(method: method, path: path)) == operation)
    }

    // MARK: The disk

    @Test func `writes and flushes are counted, and what they say passes`() {
        let calls = metrics.store.measuring(
            DiskCalls(write: { _, bytes in bytes.count - 1 }, flushFile: { _ in 0 }, flushFolder: { _ in 0 }),
            clock: TickingClock().look)
        #expect([1, 2, 3].withUnsafeBytes { calls.write(1, $0) } == 3 * MemoryLayout<Int>.size - 1)
        #expect(calls.flushFile(1) == 0 && calls.flushFile(1) == 0 && calls.flushFolder(1) == 0)
        #expect(value("app_backend_store_writes_total") == 1)
        #expect(value("app_backend_store_written_bytes_total") == Double(3 * MemoryLayout<Int>.size - 1))
        #expect(value(#"app_backend_store_flush_duration_seconds_sum{target="file"}"#) == 2)
        #expect(value(#"app_backend_store_flush_duration_seconds_count{target="folder"}"#) == 1)
        #expect(value(#"app_backend_store_call_failures_total{call="flush"}"#) == 0)
    }

    @Test func `a call that fails is counted, and its errno is still there`() {
        let calls = metrics.store.measuring(
            DiskCalls(
                write: { _, _ in
                    errno = ENOSPC
                    return -1
                },
                flushFile: { _ in
                    errno = EIO
                    return -1
                }))
        #expect([1].withUnsafeBytes { calls.write(1, $0) } == -1)
        #expect(errno == ENOSPC)
        #expect(calls.flushFile(1) == -1)
        #expect(errno == EIO)
        #expect(value(#"app_backend_store_call_failures_total{call="write"}"#) == 1)
        #expect(value(#"app_backend_store_call_failures_total{call="flush"}"#) == 1)
        #expect(value("app_backend_store_writes_total") == 0)
    }

    @Test func `a write that a signal interrupted is no failure`() {
        let calls = metrics.store.measuring(
            DiskCalls(write: { _, _ in
                errno = EINTR
                return -1
            }))
        _ = [1].withUnsafeBytes { calls.write(1, $0) }
        #expect(value(#"app_backend_store_call_failures_total{call="write"}"#) == 0)
    }

    @Test(
        arguments: [
            (.editedLine(file: "f", line: 1), "edited_line"),
            (.brokenLine(file: "f", line: 1, reason: ""), "broken_line"),
            (.quarantined(file: "f", lines: 1), "quarantined"), (.split(file: "f"), "split"),
            (.compacted(file: "f", bytesBefore: 2, bytesAfter: 1), "compacted"),
            (.reindexed(lines: 1), "reindexed"), (.tidyingFailed(file: "f", .full), "tidying_failed"),
            (.unwritable(file: "f", reason: "r"), "unwritable"),
            (.remoteFileSystem(kind: "NFS"), "remote_file_system"), (.poisoned(file: "f", reason: ""), "poisoned"),
        ] as [(StoreEvent, String)])
    func `each event of the store has its series, which is there before the first`(event: StoreEvent, name: String) {
        let series = "app_backend_store_events_total{event=\"\(name)\"}"
        #expect(value(series) == 0)
        metrics.store.count(event)
        #expect(value(series) == 1)
    }

    // MARK: Pushes

    /// Refuses every second notification before it is sent, and judges answers by their status.
    private struct Driver: PushDriver {
        let platform = Platform.browser

        func request(for notification: HubNotification, to device: DeviceHandle) throws(PushRefusal) -> Request {
            guard notification.body.isEmpty else { throw PushRefusal(.invalidNotificationSize) }
            return Request(method: .post, path: "/")
        }

        func result(of response: Response) -> PushResult {
            response.status == .created ? PushResult(.success) : PushResult(.throttled, .retry(afterSeconds: 7))
        }
    }

    private struct Sender: PushSender {
        let result: Result<Response, any Error>

        func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
            completion(result)
        }
    }

    private struct Unreachable: TransportFailure {
        let isTransient = true
        let isUnsent = true
        let isPermanent: Bool
    }

    private func notification(_ body: String) -> HubNotification {
        HubNotification(format: .native(.browser), body: Array(body.utf8), contentType: "text/plain", headers: [])
    }

    private func pushes(_ outcome: PushOutcome) -> Double? {
        value("app_backend_pushes_total{platform=\"browser\",outcome=\"\(outcome)\"}")
    }

    @Test func `what a driver makes of answers is counted, and so is what it refuses`() throws {
        let driver = metrics.pushes.measuring(Driver())
        let device = try DeviceHandle.fcm("f1:token")
        #expect(driver.result(of: Response(status: .created)) == PushResult(.success))
        #expect(
            driver.result(of: Response(status: .tooManyRequests))
                == PushResult(.throttled, .retry(afterSeconds: 7)))
        #expect(try driver.request(for: notification(""), to: device).method == .post)
        #expect(throws: PushRefusal(.invalidNotificationSize)) {
            try driver.request(for: notification("x"), to: device)
        }
        #expect(pushes(.success) == 1 && pushes(.throttled) == 1 && pushes(.invalidNotificationSize) == 1)
    }

    @Test func `channels are told apart by their credentials, and an unknown end is not said`() {
        var exposition = Exposition()
        PushMetrics.collect(
            [
                .init(channel: "apns", isHeld: false, isUnavailable: false, expiry: 1_830_211_200),
                .init(channel: "fcm", isHeld: true, isUnavailable: true),
            ], into: &exposition)
        let lines = String(decoding: exposition.bytes, as: UTF8.self).split(separator: "\n")
        #expect(
            lines.filter { !$0.hasPrefix("#") } == [
                "app_backend_push_credential_held{channel=\"apns\"} 0",
                "app_backend_push_credential_held{channel=\"fcm\"} 1",
                "app_backend_push_credential_unavailable{channel=\"apns\"} 0",
                "app_backend_push_credential_unavailable{channel=\"fcm\"} 1",
                "app_backend_push_credential_expiry_timestamp_seconds{channel=\"apns\"} 1830211200",
            ])
    }

    @Test func `a push without an answer is counted by what that comes to, and each is timed`() {
        let request = Request(method: .post, path: "/")
        let results: [Result<Response, any Error>] = [
            .success(Response(status: .created)), .failure(Unreachable(isPermanent: false)),
            .failure(Unreachable(isPermanent: true)), .failure(Failure()),
        ]
        for result in results {
            let isHeard = Lock(false)
            let sender = metrics.pushes.measuring(Sender(result: result), for: .browser, clock: TickingClock().look)
            sender.send(request) { _ in isHeard.withLock { $0 = true } }
            let wasHeard = isHeard.withLock { $0 }
            #expect(wasHeard)
        }
        #expect(pushes(.pnsUnreachable) == 1 && pushes(.wrongChannel) == 1 && pushes(.unknownError) == 1)
        #expect(value("app_backend_push_duration_seconds_count{platform=\"browser\"}") == 4)
        #expect(value("app_backend_push_duration_seconds_sum{platform=\"browser\"}") == 4)
    }
}
