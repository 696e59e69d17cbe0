// SPDX-License-Identifier: Apache-2.0
import AppBackend
import BuiltInHub
import DeviceAPI
import DeviceClient
import FileStore
import Foundation
import HTTP
import HTTPTypes
import HubServer
import JSON
import Logging
import NotificationHub
import Store
import Synchronization
import Text

import class System.Lock

/// The whole product in this process: real clients, real backend, real hub client, real built-in hub, real files.
/// Every test makes its own, with users whose passwords are `<name>-secret`.
final class TestSite: Sendable {
    let folder: URL
    let store: FileSiteStore
    let backend: Backend
    /// Another process on the same store and hub.
    let twin: Backend
    let hub: HubLog
    /// What the built-in hub keeps its records in.
    let hubStore: TroubledHubStore
    let hubClient: HubClient
    let clock = TestClock()
    private let reports: Reports

    /// What the built-in hub has reported: the request's id and the cause.
    var hubReports: [String] { reports.all }

    /// - Parameters:
    ///   - isTestHandler: whether the tutorial's own check decides who is who.
    ///   - road: how the backend reaches the built-in hub.
    ///   - hub: replaces the built-in hub, on the wire.
    ///   - adjusting: the last word on what the backend is made of.
    ///   - surroundingHub: comes between the log of what was sent to the hub and the hub, on the wire.
    init(
        users: [String] = ["alice", "bob"], platforms: [Platform] = [.apns, .fcm, .wns, .browser],
        policy: TagPolicy = TagPolicy(), authenticator: (any PasswordAuthenticator)? = nil, isTestHandler: Bool = false,
        road: Road = .wire, hub: (any Responder)? = nil,
        adjusting adjust: (inout Backend.Parts) -> Void = { _ in },
        surroundingHub surround: (any Responder) -> any Responder = { $0 }
    ) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "flow-\(UUID().uuidString)")
        store = try Self.openStore(folder)
        let clock = clock
        let now: @Sendable () -> Timestamp = { Timestamp(seconds: clock.seconds) }
        let key = SharedAccessKey(name: "test", key: Secret("0123456789abcdef0123456789abcdef"), rights: .full)
        let reports = Reports()
        self.reports = reports
        hubStore = TroubledHubStore(store)
        let builtIn = BuiltInHub(store: hubStore, now: { clock.seconds })
        let server = HubServer(
            builtIn, name: "hub", keys: [key], hosts: ["localhost"], now: { clock.seconds },
            report: { reports.add("\($1): \($0)") })
        self.hub = HubLog(surround(hub ?? server))
        hubClient = HubClient(
            connection: try ConnectionString(
                "Endpoint=sb://localhost/;SharedAccessKeyName=test;SharedAccessKey=\(key.key.reveal())"),
            hub: "hub", transport: self.hub, now: { clock.seconds }, clock: { clock.instant })
        for name in users {
            _ = try store.putUser(User(name: name, passwordHash: Self.passwordHash(of: name)))
        }
        var parts = Backend.Parts(
            store: store, notifications: Notifications(hub: road.hub(builtIn, hubClient), platforms: platforms),
            authenticator: authenticator
                ?? (isTestHandler
                    ? AuthenticationTestHandler(store: store, now: now)
                    : UserAuthenticator(store: store, now: now, clock: { clock.instant })),
            policy: policy, now: now, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        parts.registrationWaitSeconds = Self.patience
        parts.clock = { clock.instant }
        parts.meter = UserMeter(now: { clock.instant })
        parts.writeCheck = WriteCheck(now: { clock.instant })
        adjust(&parts)
        (backend, twin) = (Backend(parts), Backend(parts))
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// The ways from the backend to a hub.
    enum Road: Sendable, CaseIterable {
        /// In the hub's REST language, as to a hub elsewhere; `hub` logs it.
        case wire
        /// To the built-in hub, as in a process that has one.
        case direct

        fileprivate func hub(_ builtIn: BuiltInHub, _ client: HubClient) -> any Hub {
            self == .wire ? client : builtIn
        }
    }

    /// For how long, in seconds, one request waits for another: on a busy machine a thread may stand still for seconds,
    /// also while others wait for it.
    static let patience = 120

    /// The store in that folder, once more: as another process opens it.
    static func openStore(_ folder: URL) throws -> FileSiteStore {
        var options = FileSiteStore.Options()
        options.lockTimeout = .seconds(patience)
        // No test here cuts the power, and a flush is half of what a request costs.
        options.calls = DiskCalls(flushFile: { _ in 0 }, flushFolder: { _ in 0 })
        return try FileSiteStore.open(path: folder.path, options: options)
    }

    /// Costly on purpose, so each is made once for all sites.
    static func passwordHash(of name: String) throws -> String {
        try passwordHashes.withLock { hashes in
            if let made = hashes[name] { return made }
            let made = try PasswordHash.make("\(name)-secret")
            hashes[name] = made
            return made
        }
    }

    private static let passwordHashes = Lock<[String: String]>([:])

    /// A device of that user's: what an app is made of.
    /// - Parameter credentials: nil: their password.
    func device(
        of user: String, storage: MemoryStorage = MemoryStorage(), credentials: Credentials? = nil
    ) throws -> TestDevice {
        let endpoint = try Endpoint("https://backend.test")
        let credentials = try credentials ?? Credentials(user: user, password: "\(user)-secret")
        let transport = ResponderTransport(responder: backend)
        return TestDevice(
            registration: RegisterClient(
                endpoint: endpoint, credentials: credentials, transport: transport, storage: storage),
            notifications: NotificationClient(endpoint: endpoint, credentials: credentials, transport: transport))
    }

    /// A request as any HTTP client makes it, past our own client and its manners.
    /// - Parameter server: who answers; nil: `backend`.
    func call(
        _ method: HTTPRequest.Method, _ path: String, query: String = "", as user: String? = nil, body: String = "",
        contentType: String? = "application/json", fields: HTTPFields = [:], on server: Backend? = nil
    ) -> Response {
        var fields = fields
        if let user {
            fields[.authorization] = "Basic " + Data("\(user):\(user)-secret".utf8).base64EncodedString()
        }
        if !body.isEmpty { fields[.contentType] = contentType }
        return (server ?? backend).respond(
            to: Request(
                method: method, authority: "backend.test", path: path, query: query, fields: fields,
                body: Array(body.utf8), id: "test")
        ).withCode()
    }

    /// Gets an id and registers an Apple device under it, past our own client.
    func register(_ user: String, handle: String = TestSite.token(1), tags: [String] = []) throws -> String {
        let id = try JSONValue(parsing: call(.post, "/api/register", as: user).body).string ?? ""
        let body = DeviceRegistration(platform: "apns", handle: handle, tags: tags).json
        let response = call(.put, "/api/register/\(id)", as: user, body: String(decoding: body, as: UTF8.self))
        guard response.status == .ok else { throw Problem(response) }
        return id
    }

    /// A device token of Apple's form.
    static func token(_ number: Int) -> String {
        String(repeating: String(format: "%08X", number), count: 8)
    }
}

/// What a part of the site has reported to its operator.
private final class Reports: Sendable {
    private let lines = Lock<[String]>([])

    var all: [String] { lines.withLock(\.self) }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

struct TestDevice: Sendable {
    let registration: RegisterClient
    let notifications: NotificationClient
}

/// Seconds that only the test moves.
final class TestClock: Sendable {
    private static let start: Int64 = 1_796_000_000
    private let now = Atomic(start)
    private let isAhead = Atomic(Int64(0))
    private let beginning = ContinuousClock.now

    var seconds: Int64 { now.load(ordering: .relaxed) + isAhead.load(ordering: .relaxed) }

    /// The same on the monotonic clock.
    var instant: ContinuousClock.Instant { beginning + .seconds(now.load(ordering: .relaxed) - Self.start) }

    func advance(_ seconds: Int64) {
        now.add(seconds, ordering: .relaxed)
    }

    /// Sets the date only, as an operator does.
    func setDate(by seconds: Int64) {
        isAhead.add(seconds, ordering: .relaxed)
    }
}

/// Passes everything on to the hub and remembers it.
final class HubLog: Responder {
    private let hub: any Responder
    private let log = Lock<[Request]>([])

    init(_ hub: any Responder) {
        self.hub = hub
    }

    func respond(to request: Request) throws -> Response {
        log.withLock { $0.append(request) }
        return try hub.respond(to: request)
    }

    /// What was sent to devices, in order.
    var messages: [Message] {
        log.withLock { requests in
            requests.filter { $0.method == .post && $0.path.hasSuffix("/messages") }.map(Message.init)
        }
    }

    var requests: [Request] { log.withLock(\.self) }

    struct Message {
        let format: String
        let tags: String
        let body: String
        let fields: HTTPFields

        init(_ request: Request) {
            fields = request.fields
            format = request.fields[.format] ?? ""
            tags = request.fields[.tags] ?? ""
            body = String(decoding: request.body, as: UTF8.self)
        }
    }
}
