// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Dispatch
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Support
import Testing

import class System.Lock

/// Requests with an `Idempotency-Key` that did not go well: what did nothing may be tried again, nothing is done twice,
/// and where the outcome is unknown, the answer says so.
struct IdempotencyTroubleTests {
    /// A hub that has a trouble until it is healed.
    private final class Hospital: Sendable {
        private let trouble: Lock<OutcomeTests.Trouble?>
        private let failure: any Error & Sendable

        init(_ trouble: OutcomeTests.Trouble, failure: any Error & Sendable = NoAnswer()) {
            self.trouble = Lock(trouble)
            self.failure = failure
        }

        func heal() { trouble.withLock { $0 = nil } }

        func surround(_ hub: any Responder) -> any Responder {
            ClosureResponder { [self] request in
                switch trouble.withLock(\.self) {
                case .answers(let response): return response
                case .isGone: throw failure
                case nil: return try hub.respond(to: request)
                }
            }
        }
    }

    /// A transport that is certain that nothing was sent.
    private struct Unsent: TransportFailure {
        let isTransient = true
        let isUnsent = true
        let isPermanent = false
    }

    private static func answer(_ status: Int) -> OutcomeTests.Trouble {
        .answers(Response(status: .init(code: status), fields: [.retryAfter: "7"]))
    }

    // MARK: What did nothing

    @Test(arguments: [
        KeyedPost(query: "pns=carrier-pigeon&to_tag=bob"), KeyedPost(query: "pns=apns"), KeyedPost(body: "no JSON"),
        KeyedPost(query: "pns=apns&to_tag=a%20b"), KeyedPost(query: "to_tag=nosuch"),
        KeyedPost(body: "\"\(String(repeating: "x", count: 5_000))\""),
    ])
    func `a refused request gives its key back`(refused: KeyedPost) throws {
        let site = try TestSite()
        let status = site.post(refused).status
        #expect([400, 413].contains(status.code))
        // Not told again but judged again.
        let again = site.post(refused)
        #expect(again.status == status && !again.isReplayed)
        let sent = site.post(.message)
        #expect(sent.status == .ok && !sent.isReplayed)
        #expect(site.hub.messages.count == 1)
    }

    @Test(arguments: [302, 400, 401, 403, 404, 429]) func `a message that the hub refused may be sent again`(
        status: Int
    ) throws {
        let hospital = Hospital(Self.answer(status))
        let site = try TestSite(surroundingHub: { hospital.surround($0) })
        #expect([429, 502].contains(site.post(.message).status.code))
        hospital.heal()
        let sent = site.post(.message)
        #expect(sent.status == .ok && !sent.isReplayed)
        sent.expectRepeated(site.post(.message))
        #expect(site.hub.messages.count == 2)
    }

    @Test func `a message that never left may be sent again`() throws {
        let hospital = Hospital(.isGone, failure: Unsent())
        let site = try TestSite(surroundingHub: { hospital.surround($0) })
        #expect(site.post(.message).status == .serviceUnavailable)
        hospital.heal()
        #expect(site.post(.message).status == .ok)
    }

    @Test func `a registration id that the hub did not give may be asked for again`() throws {
        let hospital = Hospital(.isGone)
        let site = try TestSite(surroundingHub: { hospital.surround($0) })
        #expect(site.post(.registration).status == .serviceUnavailable)
        hospital.heal()
        let given = site.post(.registration)
        #expect(given.status == .ok && !given.isReplayed)
    }

    @Test(arguments: [StoreError.full, .readOnly, .busy(retryAfterSeconds: 1), .poisoned, .quotaExceeded])
    func `where the key cannot be claimed nothing is done`(error: StoreError) throws {
        let site = try TestSite { $0.store = TroubledStore(inner: $0.store, error: error) }
        for post in [KeyedPost.message, .secret, .registration] {
            #expect(site.post(post).status.code == (error == .quotaExceeded ? 429 : 503))
        }
        #expect(site.hub.requests.isEmpty)
    }

    // MARK: What may have been done

    @Test(arguments: [202, 500, 503]) func `a message that the hub may have taken is not sent again`(
        status: Int
    ) throws {
        let hospital = Hospital(Self.answer(status))
        let site = try TestSite(surroundingHub: { hospital.surround($0) })
        let first = site.post(.message)
        #expect(first.status.kind != .successful)
        hospital.heal()
        first.expectRepeated(site.post(.message))
        #expect(site.hub.messages.count == 1)
    }

    @Test func `a message whose answer from the hub was lost is not sent again`() throws {
        let hospital = Hospital(.isGone)
        let site = try TestSite(surroundingHub: { hospital.surround($0) })
        let first = site.post(.message)
        #expect(first.status == .serviceUnavailable)
        hospital.heal()
        first.expectRepeated(site.post(.message))
        #expect(site.hub.messages.count == 1)
    }

    @Test func `a secret that is kept is not kept again, though no platform took its number`() throws {
        let hospital = Hospital(Self.answer(429))
        let site = try TestSite(surroundingHub: { hospital.surround($0) })
        let first = site.post(.secret)
        #expect(first.status == .tooManyRequests)
        hospital.heal()
        first.expectRepeated(site.post(.secret))
        let list = try JSONValue(parsing: site.call(.get, "/api/notifications", as: "bob").body)
        #expect(list.array?.count == 1)
    }

    @Test func `what one platform took is not sent again for the sake of another`() throws {
        let site = try OutcomeTests.site(["fcmv1": Self.answer(429)])
        let first = site.post(.secret)
        #expect(first.status == .ok)
        first.expectRepeated(site.post(.secret))
        #expect(site.hub.messages.count == 4)
    }

    // MARK: Unknown outcomes

    @Test func `as long as the first is under way the second has to wait, in another process too`() throws {
        let between = Interruption(.post, beforeHub: true)
        let site = try TestSite(surroundingHub: { between.surround($0) })
        let neighbour = try site.neighbour()
        let meanwhile = Lock<[Response]>([])
        between.arm { [unowned site] in
            for backend in [site.backend, neighbour] {
                let response = TestSite.post(.message, to: backend)
                meanwhile.withLock { $0.append(response) }
            }
        }
        let first = site.post(.message)
        #expect(first.status == .ok)
        for response in meanwhile.withLock(\.self) {
            response.expectConflict(retryAfter: "1")
            #expect(Problem(response).code == .requestUnderWay)
        }
        first.expectRepeated(TestSite.post(.message, to: neighbour))
        #expect(site.hub.messages.count == 1)
    }

    /// To the store a request that is interrupted for so long is one whose process has died.
    @Test func `the outcome of a request that died is unknown, and it is not done again`() throws {
        let between = Interruption(.post, beforeHub: false)
        let site = try TestSite(surroundingHub: { between.surround($0) })
        let neighbour = try site.neighbour()
        let later = Lock<[Response]>([])
        between.arm { [unowned site] in
            for seconds in [119, 1, 80_000] {
                site.clock.advance(Int64(seconds))
                let response = TestSite.post(.message, to: neighbour)
                later.withLock { $0.append(response) }
            }
        }
        _ = site.post(.message)
        let answers = later.withLock(\.self)
        for (response, retryAfter) in zip(answers, ["1", nil, nil]) { response.expectConflict(retryAfter: retryAfter) }
        #expect(answers.last.map { Problem($0).code } == .outcomeUnknown)
        #expect(site.hub.messages.count == 1)
    }

    @Test func `an answer that cannot be kept is still given, and what was sent is not sent again`() throws {
        let log = CollectedLog()
        let site = try TestSite {
            $0.store = TroubledStore(inner: $0.store, errorAfterwards: .full)
            $0.logger = log.logger
        }
        #expect(site.post(.message).status == .ok)
        #expect(log.lines.map(\.level) == [.warning])
        site.post(.message).expectConflict(retryAfter: "1")
        #expect(site.hub.messages.count == 1)
    }

    // MARK: Many at once

    @Test func `of many who send the same at once in two processes one sends`() throws {
        let site = try TestSite()
        let neighbour = try site.neighbour()
        // Of many log-ins at once some may be told to come back; those who are known are not.
        for backend in [site.backend, neighbour] {
            #expect(site.call(.get, "/api/register", as: "alice", on: backend).status == .ok)
        }
        for round in 0..<5 {
            let post = KeyedPost(key: "race-\(round)")
            let answers = Lock<[Response]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                let response = TestSite.post(post, to: number.isMultiple(of: 2) ? site.backend : neighbour)
                answers.withLock { $0.append(response) }
            }
            let all = answers.withLock(\.self)
            #expect(all.count { $0.status == .ok && !$0.isReplayed } == 1)
            #expect(all.allSatisfy { $0.status == .ok || $0.status == .conflict })
            #expect(Set(all.filter { $0.status == .ok }.map(\.body)).count == 1)
            #expect(site.hub.messages.count == round + 1)
        }
    }
}
