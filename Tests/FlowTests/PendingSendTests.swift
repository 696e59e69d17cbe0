// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import Metrics
import NotificationHub
import Store
import Testing
import Text

import class System.Lock
import class System.Semaphore

/// Sends that wait for a hub elsewhere without a thread.
struct PendingSendTests {
    /// Keeps what the hub is asked until the test answers.
    private final class LateHub: RequestSender {
        typealias Completion = @Sendable (Result<Response, any Error>) -> Void

        private let held = Lock<[Completion]>([])

        func send(_ request: Request, _ completion: @escaping Completion) {
            held.withLock { $0.append(completion) }
        }

        var count: Int { held.withLock(\.count) }

        func answer(_ result: Result<Response, any Error>) {
            let all = held.withLock { held in
                defer { held = [] }
                return held
            }
            for completion in all { completion(result) }
        }

        static let taken = Result<Response, any Error>.success(
            Response(status: .created, fields: [.location: "https://hub.test/hub/messages/m-1?api-version=2020-06"]))
    }

    private let hub = LateHub()

    private func site(adjusting adjust: (inout Backend.Parts) -> Void = { _ in }) throws -> TestSite {
        let client = HubClient(
            connection: try ConnectionString("Endpoint=sb://hub.test/;SharedAccessKeyName=k;SharedAccessKey=x"),
            hub: "hub", transport: ClosureResponder { _ in throw NoAnswer() },
            together: (hub, .seconds(TestSite.patience)), now: { 1_796_000_000 })
        return try TestSite(platforms: [.apns, .fcm]) { parts in
            parts.notifications = Notifications(hub: client, platforms: [.apns, .fcm])
            adjust(&parts)
        }
    }

    private func request(_ post: KeyedPost = .message, as user: String = "alice") -> Request {
        var fields: HTTPFields = [.contentType: "application/json"]
        fields[.idempotencyKey] = post.key
        fields[.authorization] = "Basic " + Data("\(user):\(user)-secret".utf8).base64EncodedString()
        return Request(
            method: .post, authority: "backend.test", path: post.path, query: post.query, fields: fields,
            body: Array(post.body.utf8), id: "test")
    }

    /// Makes it as the server does, for which no thread has to wait.
    private func begin(_ site: TestSite, _ post: KeyedPost = .message) throws -> Continuation {
        _ = site.call(.get, "/api/register", as: "alice")
        var request = request(post)
        request.postponing = .available
        return try #require(site.backend.respond(to: request).continuation)
    }

    @Test func `a send is continued when the hub has answered on all platforms`() throws {
        let site = try site()
        let continuation = try begin(site, .secret)
        #expect(hub.count == 2)
        let times = Lock(0)
        var ended: Int { times.withLock(\.self) }
        continuation.onEnd { times.withLock { $0 += 1 } }
        #expect(ended == 0)
        // Kept before it was sent.
        #expect(
            try site.store.notifications(owner: "bob", unreadOnly: true, after: nil, limit: 9, now: site.time).count
                == 1)
        hub.answer(LateHub.taken)
        #expect(ended == 1)
        let response = try continuation.answer()
        #expect(response.status == .ok && response.route == "/api/notifications")
        #expect(try SendOutcome(response).outcomes.map(\.state) == ["Enqueued", "Enqueued"])
    }

    @Test func `a send whose log-in had to wait waits for the hub in the same way`() throws {
        let site = try site()
        var request = request()
        request.postponing = .available
        let logIn = try #require(site.backend.respond(to: request).postponement)
        let ended = Semaphore()
        logIn.onEnd { ended.signal() }
        #expect(ended.wait(for: .seconds(TestSite.patience)))
        request.postponing = .resumed(logIn)
        let continuation = try #require(site.backend.respond(to: request).continuation)
        hub.answer(LateHub.taken)
        #expect(try continuation.answer().status == .ok)
    }

    @Test func `its key is taken until then, and its answer is repeated`() throws {
        let site = try site()
        let continuation = try begin(site)
        site.post(.message).expectConflict(retryAfter: "1")
        hub.answer(LateHub.taken)
        let response = try continuation.answer()
        #expect(response.status == .ok)
        response.expectRepeated(site.post(.message))
        #expect(hub.count == 0)
    }

    @Test func `a send that the hub refuses gives its key back`() throws {
        let site = try site()
        let continuation = try begin(site)
        hub.answer(.success(Response(status: .tooManyRequests, fields: [.retryAfter: "7"])))
        let refused = try continuation.answer()
        #expect(refused.status == .tooManyRequests && refused.fields[.retryAfter] == "7")
        let again = try begin(site)
        hub.answer(LateHub.taken)
        #expect(try again.answer().status == .ok)
    }

    @Test func `its bytes are under way until the hub has answered`() throws {
        let site = try site { $0.limits.bytesUnderWay = 20 }
        let continuation = try begin(site)
        #expect(site.post(KeyedPost(key: "k-2")).status == .tooManyRequests)
        hub.answer(LateHub.taken)
        _ = try continuation.answer()
        let next = try begin(site, KeyedPost(key: "k-3"))
        hub.answer(LateHub.taken)
        #expect(try next.answer().status == .ok)
    }

    @Test func `a deferred response counts once, with its final status`() throws {
        let site = try site()
        let metrics = SiteMetrics(version: "1.2.3", startedAt: 1_796_000_000)
        _ = site.call(.get, "/api/register", as: "alice")
        var request = request()
        request.postponing = .available
        let heard = Lock<[MeasuredAnswer]>([])
        var answers: [MeasuredAnswer] { heard.withLock(\.self) }
        let responder = metrics.requests.measuring(
            site.backend, observe: { answer in heard.withLock { $0.append(answer) } })
        let continuation = try #require(try responder.respond(to: request).continuation)
        #expect(answers.isEmpty)
        hub.answer(.failure(NoAnswer()))
        #expect(try continuation.answer().status == .serviceUnavailable)
        #expect(answers.map(\.status) == [.serviceUnavailable])
        #expect(answers.map(\.route) == ["/api/notifications"])
    }

    @Test func `a message that no hub takes is refused at once`() throws {
        let site = try site()
        _ = site.call(.get, "/api/register", as: "alice")
        var request = request(KeyedPost(body: "\"\(String(repeating: "x", count: 5_000))\""))
        request.postponing = .available
        let response = site.backend.respond(to: request)
        #expect(response.continuation == nil && response.status == .contentTooLarge)
    }
}

extension TestSite {
    fileprivate var time: Timestamp { Timestamp(seconds: clock.seconds) }
}
