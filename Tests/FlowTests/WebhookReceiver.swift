// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Crypto
import DeviceAPI
import DeviceClient
import Foundation
import HTTP
import HTTPTypes
import JSON
import Store
import Testing
import Text

import class System.Lock

/// Receivers `r0.example`, `r1.example` and so on, all in one: what they are told, and what they answer.
final class Receiver: RequestSender, WebhookCounter {
    struct Told: Sendable {
        let request: Request
        let type: String
        let data: JSONValue

        var id: String { request.fields[named: "webhook-id"] ?? "" }
        var text: String { String(decoding: request.body, as: UTF8.self) }

        /// By the receiver's own reckoning.
        var isSigned: Bool {
            let time = request.fields[named: "webhook-timestamp"] ?? ""
            let key = SymmetricKey(data: Data(Receiver.key))
            let code = HMAC<SHA256>.authenticationCode(for: Data("\(id).\(time).\(text)".utf8), using: key)
            return request.fields[named: "webhook-signature"] == "v1," + Data(code).base64EncodedString()
        }
    }

    private struct State {
        var told: [Told] = []
        var counts: [String: Int] = [:]
        var reports: [String] = []
        var answer: @Sendable (Request) -> Int = { _ in 200 }
        var failure: (any Error)?
        var rounds = 0
        var refusedLeases = 0
    }

    private static let key = Array("0123456789abcdef0123456789abcdef".utf8)
    private let state = Lock(State())

    var told: [Told] { state.withLock(\.told) }
    var reports: [String] { state.withLock(\.reports) }

    var answer: @Sendable (Request) -> Int {
        get { state.withLock(\.answer) }
        set { state.withLock { $0.answer = newValue } }
    }

    /// Instead of an answer.
    var failure: (any Error)? {
        get { state.withLock(\.failure) }
        set { state.withLock { $0.failure = newValue } }
    }

    /// How often a worker has asked for the lease while another one held it.
    var refusedLeases: Int { state.withLock(\.refusedLeases) }

    func count(_ result: String) -> Int { state.withLock { $0.counts[result] ?? 0 } }

    func count(_ result: WebhookResult, by amount: Int) {
        state.withLock { $0.counts[result.rawValue, default: 0] += amount }
    }

    @Sendable func report(_ line: String) { state.withLock { $0.reports.append(line) } }

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        let json = try? JSONValue(parsing: request.body)
        let told = Told(request: request, type: json?["type"]?.string ?? "", data: json?["data"] ?? .null)
        let (answer, failure) = state.withLock { state in
            state.told.append(told)
            return (state.answer, state.failure)
        }
        if let failure { return completion(.failure(failure)) }
        completion(.success(Response(status: .init(code: answer(request)))))
    }

    static func endpoints(_ kinds: Set<WebhookKind>, _ count: Int) -> [WebhookEndpoint] {
        let secret = Secret("whsec_" + Data(key).base64EncodedString())
        return (0..<count).compactMap { number in
            let request = Request(method: .post, authority: "r\(number).example", path: "/hook")
            return WebhookEndpoint(label: "webhooks.\(number)", request: request, secret: secret, kinds: kinds)
        }
    }

    func webhooks(_ parts: Backend.Parts, _ kinds: Set<WebhookKind>, receivers: Int) throws -> Webhooks {
        Webhooks(
            Self.endpoints(kinds, receivers), queue: parts.store, counter: self, now: parts.now, report: report)
    }

    static var options: WebhookWorker.Options {
        var options = WebhookWorker.Options()
        options.poll = .milliseconds(5)
        return options
    }

    /// Runs a worker meanwhile.
    @discardableResult
    func during<Outcome>(
        _ site: TestSite, _ options: WebhookWorker.Options = options, receivers: Int = 2, _ body: () throws -> Outcome
    ) throws -> Outcome {
        let clock = site.clock
        let webhooks = Webhooks(
            Self.endpoints([], receivers), queue: WatchedQueue(inner: site.store, receiver: self), counter: self,
            now: { Timestamp(seconds: clock.seconds) }, report: report)
        let worker = WebhookWorker(
            webhooks, store: site.store, hub: site.hubClient, sender: self, options: options)
        Thread.detachNewThread { worker.run() }
        defer {
            worker.loop.stop()
            worker.loop.waitForEnd(.seconds(TestSite.patience))
        }
        return try body()
    }

    /// What was told, as soon as it is so much.
    func await(_ count: Int) throws -> [Told] {
        try wait { told.count >= count }
        return told
    }

    /// Returns when a worker has gone once, from the beginning to the end, through all that waits: what it has not told by then it
    /// does not tell at this time of the clock. What it was answered it has worked through, too.
    func awaitRound() throws {
        let begun = state.withLock(\.rounds)
        // One may be under way, and the next one ends before the one after it begins.
        try wait { state.withLock(\.rounds) >= begun + 2 }
    }

    func wait(_ isSo: () -> Bool) throws {
        let end = ContinuousClock.now + .seconds(TestSite.patience)
        while !isSo() {
            guard ContinuousClock.now < end else { throw NoAnswer() }
            Thread.sleep(forTimeInterval: 0.005)
        }
    }
}

extension Receiver {
    /// A site that tells these receivers.
    func site(
        _ kinds: Set<WebhookKind> = Set(WebhookKind.allCases), receivers: Int = 1,
        surroundingHub: (any Responder) -> any Responder = { $0 }
    ) throws -> TestSite {
        try TestSite(
            users: ["alice", "bob", "carol"],
            adjusting: {
                $0.plainSeconds = 86_400
                $0.webhooks = try? webhooks($0, kinds, receivers: receivers)
            }, surroundingHub: surroundingHub)
    }

    /// Counts what a worker asks of the store's list: it looks into it once in each round.
    private struct WatchedQueue: WaitingStore {
        let inner: any WaitingStore
        let receiver: Receiver

        func putWaiting(_ entries: [HubMessage], in list: WaitingList) throws(StoreError) {
            try inner.putWaiting(entries, in: list)
        }

        func waiting(in list: WaitingList, except ids: Set<String>) throws(StoreError) -> [HubMessage] {
            receiver.state.withLock { $0.rounds += 1 }
            return try inner.waiting(in: list, except: ids)
        }

        func waiting(in list: WaitingList, of owner: String) throws(StoreError) -> [HubMessage] {
            try inner.waiting(in: list, of: owner)
        }

        func waitingEntry(_ id: String, in list: WaitingList) throws(StoreError) -> HubMessage? {
            try inner.waitingEntry(id, in: list)
        }

        func removeWaiting(_ ids: [String], from list: WaitingList) throws(StoreError) {
            try inner.removeWaiting(ids, from: list)
        }

        func changeWaiting(
            _ entry: HubMessage, to new: HubMessage?, in list: WaitingList
        ) throws(StoreError) -> Bool {
            try inner.changeWaiting(entry, to: new, in: list)
        }

        func acquireLease(of list: WaitingList) throws(StoreError) -> DeliveryLease? {
            let lease = try inner.acquireLease(of: list)
            if lease == nil { receiver.state.withLock { $0.refusedLeases += 1 } }
            return lease
        }
    }
}

extension TestSite {
    /// Bob sends a message object.
    /// - Returns: its id.
    func sendMessage(
        _ members: String = #""Body":"Hi""#, to: String = #""alice""#, from sender: String = "bob"
    ) throws -> String {
        let answer = call(.post, "/api/notifications", as: sender, body: "{\"To\":\(to),\(members)}")
        return try #require(try SendOutcome(answer).messageID)
    }
}
