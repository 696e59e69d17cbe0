// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import Foundation
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Store
import Support
import Synchronization
import Testing
import Text

import class System.Lock
import typealias System.MonotonicClock

/// A push service that has no secrets: its requests name the device in the path.
struct PlainDriver: PushDriver {
    /// A host that it sends nothing to.
    static let forbidden = "forbidden.example"

    let platform = Platform.browser
    private let calls = Calls()

    private final class Calls: Sendable {
        let count = Atomic(0)
    }

    /// How many requests it was asked for.
    var requests: Int { calls.count.load(ordering: .relaxed) }

    func request(for notification: HubNotification, to device: DeviceHandle) throws(PushRefusal) -> Request {
        calls.count.add(1, ordering: .relaxed)
        guard case .browser(let subscription) = device.value else { throw PushRefusal(.wrongChannel) }
        guard notification.body.count <= 3_993 else { throw PushRefusal(.invalidNotificationSize) }
        let parts = subscription.endpoint.dropFirst("https://".count).split(separator: "/", maxSplits: 1)
        guard parts[0] != Self.forbidden else { throw PushRefusal(.wrongChannel) }
        var request = Request(
            method: .post, authority: String(parts[0]), path: "/" + parts[1], body: notification.body)
        for header in notification.headers {
            if let name = HTTPField.Name(header.name) { request.fields[name] = header.value }
        }
        return request
    }

    func result(of response: Response) -> PushResult {
        switch response.status.code {
        case 201: PushResult(.success)
        case 401: PushResult(.invalidCredentials)
        case 410: PushResult(.expiredChannel, .removeRegistration(goneSince: nil))
        case 429: PushResult(.throttled, .retryDevice(afterSeconds: 7))
        default: PushResult(.pnsUnavailable, .retry(afterSeconds: nil))
        }
    }
}

/// What a transport may fail with.
struct Failure: TransportFailure {
    var isUnsent = false
    var isPermanent = false
    var isUnresolved = false
    var isTransient: Bool { false }
}

/// The network: answers as the test says, and remembers what it was asked.
final class ScriptedSender: PushSender {
    typealias Script = @Sendable (Request) -> Result<Response, any Error>?

    private struct State {
        var requests: [Request] = []
        /// How many of them are said to be on their way; nil: all.
        var sent: Int?
        var script: Script
    }

    private let state: Lock<State>

    /// - Parameter script: nil never answers.
    init(_ script: @escaping Script = { _ in .success(Response(status: .created)) }) {
        state = Lock(State(script: script))
    }

    static func status(_ code: Int) -> Script {
        { _ in .success(Response(status: HTTPResponse.Status(code: code))) }
    }

    func answer(_ script: @escaping Script) { state.withLock { $0.script = script } }
    var requests: [Request] { state.withLock { $0.requests } }
    var paths: [String] { requests.map(\.path) }
    var unsent: Int { state.withLock { state in state.sent.map { max(0, state.requests.count - $0) } ?? 0 } }

    /// Says from now on that so many requests are on their way, and no more.
    func say(sent: Int) { state.withLock { $0.sent = sent } }

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        let script = state.withLock { state in
            state.requests.append(request)
            return state.script
        }
        if let result = script(request) { completion(result) }
    }
}

/// A hub with a worker, a clock that the test moves, and waiting for what must happen.
final class DeliveryBench {
    let store: any HubStore & HubQueue
    let driver = PlainDriver()
    let sender: ScriptedSender
    let worker: DeliveryWorker
    let hub: HubBench
    let reports = Lock<[String]>([])
    private let time = Lock((date: HubBench.now, instant: ContinuousClock.now))

    /// What a channel takes from its hub.
    struct Surroundings {
        let now: @Sendable () -> Int64
        let clock: MonotonicClock
        let report: @Sendable (String) -> Void
    }

    /// - Parameters:
    ///   - network: takes the place of `sender`.
    ///   - channels: take the place of the one to `driver`'s browsers.
    init(
        store: any HubStore & HubQueue = MemoryHubStore(), sender: ScriptedSender = ScriptedSender(),
        network: (any PushSender)? = nil, _ adjust: (inout DeliveryWorker.Options) -> Void = { _ in },
        channels: ((Surroundings) -> [PushChannel])? = nil,
        noteGone: @escaping DeliveryWorker.GoneNote = { _, _, _ in }
    ) {
        self.store = store
        self.sender = sender
        var options = DeliveryWorker.Options()
        (options.poll, options.drain, options.progress) = (.milliseconds(2), .milliseconds(20), .zero)
        // Look-ups end before others go on, so that the order of a test's messages is sure. A thread that has ended one is not
        // idle at once, and behind as many as may be there the next look-up is not waited for.
        (options.lookups, options.lookupPatience) = (64, .seconds(60))
        adjust(&options)
        let late = Late()
        let around = Surroundings(
            now: { late.bench?.now ?? 0 }, clock: { late.bench?.instant ?? .now },
            report: { text in late.bench?.reports.withLock { $0.append(text) } })
        let browsers = PushChannel(
            name: "browser", driver: driver, sender: network ?? sender, services: .byAuthority, now: around.now,
            clock: around.clock,
            report: around.report)
        worker = DeliveryWorker(
            store: store, channels: channels?(around) ?? [browsers], options: options, now: around.now,
            clock: around.clock,
            report: around.report, noteGone: noteGone)
        hub = HubBench(store: store, worker: worker)
        late.bench = self
    }

    /// The bench, for closures that are made before it.
    private final class Late: Sendable {
        private nonisolated(unsafe) weak var held: DeliveryBench?
        private let lock = Lock(())
        var bench: DeliveryBench? {
            get { lock.withLock { _ in held } }
            set { lock.withLock { _ in held = newValue } }
        }
    }

    deinit {
        worker.loop.stop()
    }

    var now: Int64 { time.withLock { $0.date } }
    var instant: ContinuousClock.Instant { time.withLock { $0.instant } }

    /// Sets the date only, without a call for the worker: it finds out by itself.
    func setClock(_ seconds: Int64) {
        time.withLock { $0.date = seconds }
    }

    func pass(_ seconds: Int64) {
        time.withLock {
            $0.date += seconds
            $0.instant += .seconds(seconds)
        }
        worker.wake()
    }

    /// Waits until the delivering thread has looked at everything once more.
    func goRound() throws {
        let before = worker.pulse
        worker.wake()
        // The first may be in the middle of it.
        try wait { self.worker.pulse >= before + 3 }
    }

    func start() {
        let worker = worker
        Thread { worker.run() }.start()
    }

    /// Ends the worker as a process's end does, and waits for it.
    func stop() {
        worker.loop.stop()
        worker.loop.waitForEnd(.seconds(60))
    }

    func register(_ id: Int, tags: String = "all", at endpoint: String? = nil) {
        Self.register(id, tags: tags, at: endpoint, hub)
    }

    static func register(_ id: Int, tags: String = "all", at endpoint: String? = nil, _ hub: HubBench) {
        let keys =
            "<P256DH>B\(String(repeating: "A", count: 86))</P256DH><Auth>\(String(repeating: "A", count: 22))</Auth>"
        let response = hub.put(
            "\(id)-1-1",
            "<BrowserRegistrationDescription \(HubBench.namespaces)><Tags>\(tags)</Tags>"
                + "<Endpoint>\(endpoint ?? "https://push.example/\(id)")</Endpoint>\(keys)"
                + "</BrowserRegistrationDescription>")
        #expect(response.status.code == 200)
    }

    func send(_ tags: String? = "all", body: String = "{}", fields: [String: String] = [:]) -> String {
        let sent = hub.send("browser", tags: tags, body: body, fields: fields)
        #expect(sent.status.code == 201)
        return sent.createdID
    }

    func details(_ id: String) throws -> NotificationDetails { try hub.details(id) }

    /// How many of a message's devices the store believes to be under way; nil once it has left the queue.
    func inFlight(_ id: String) throws -> Int? {
        try store.queuedHubMessage(id).map { message in
            let underWay = message.document["underWay"]
            return underWay?.integer ?? (underWay?.members ?? []).reduce(0) { $0 + ($1.value.integer ?? 0) }
        }
    }

    /// The counts of a message by outcome, once it is done.
    func outcomes(_ id: String) throws -> [String: Int] {
        try wait { try self.details(id).endTime != nil }
        let counts = try details(id).outcomes.flatMap(\.counts)
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.name, $0.count) })
    }

    /// Looks again and again until it is so; an issue is recorded when that takes too long.
    func wait(_ isSo: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try !isSo() {
            try #require(ContinuousClock.now < deadline, "waited without success")
            usleep(1_000)
        }
    }
}
