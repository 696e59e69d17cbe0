// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Support
import Testing

import class System.Lock
import typealias System.MonotonicClock

/// A service whose answers mean what the test says; its requests name the device in the path.
struct RuledDriver: PushDriver {
    let platform: Platform
    let rule: @Sendable (Int) -> PushResult

    /// - Parameter rule: what a status means; 201 is always success.
    init(_ platform: Platform, _ rule: @escaping @Sendable (Int) -> PushResult) {
        (self.platform, self.rule) = (platform, rule)
    }

    func request(for notification: HubNotification, to device: DeviceHandle) throws(PushRefusal) -> Request {
        let name = device.channel.split(separator: "/").last ?? ""
        return Request(method: .post, authority: "shared.example", path: "/\(name)", body: notification.body)
    }

    func result(of response: Response) -> PushResult {
        response.status == .created ? PushResult(.success) : rule(response.status.code)
    }
}

/// A network with a credential that can be renewed; it answers as the test says.
final class CredentialSender: PushSender {
    typealias Script = @Sendable (Request, _ credential: Int) -> Result<Response, any Error>?

    private struct State {
        var requests: [Request] = []
        var credential = 1
        var renewals: [ContinuousClock.Instant] = []
        var reconnections: [ContinuousClock.Instant] = []
        var script: Script
    }

    private let state: Lock<State>

    init(_ script: @escaping Script) { state = Lock(State(script: script)) }

    /// - Parameter code: of every answer.
    convenience init(_ code: Int) { self.init(Self.status(code)) }

    static func status(_ code: Int) -> Script {
        { _, _ in .success(Response(status: HTTPResponse.Status(code: code))) }
    }

    func answer(_ script: @escaping Script) { state.withLock { $0.script = script } }
    func answer(_ code: Int) { answer(Self.status(code)) }
    var requests: [Request] { state.withLock { $0.requests } }
    var paths: [String] { requests.map(\.path) }
    var renewals: [ContinuousClock.Instant] { state.withLock { $0.renewals } }
    var reconnections: [ContinuousClock.Instant] { state.withLock { $0.reconnections } }

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        let (script, credential) = state.withLock { state in
            state.requests.append(request)
            return (state.script, state.credential)
        }
        if let result = script(request, credential) { completion(result) }
    }

    func renewCredential(refused sentAt: ContinuousClock.Instant) {
        state.withLock { state in
            state.renewals.append(sentAt)
            state.credential += 1
        }
    }

    func reconnect(after time: ContinuousClock.Instant) { state.withLock { $0.reconnections.append(time) } }
}

extension DeliveryBench {
    /// A hub that reaches browsers by one service with one credential.
    convenience init(
        _ sender: CredentialSender, clock: MonotonicClock? = nil,
        _ rule: @escaping @Sendable (Int) -> PushResult
    ) {
        self.init(channels: { around in
            [
                PushChannel(
                    name: "service", driver: RuledDriver(.browser, rule), sender: sender, now: around.now,
                    clock: clock ?? around.clock,
                    report: around.report)
            ]
        })
    }

    var lines: [String] { reports.withLock { $0 } }

    func isRegistered(_ id: Int) -> Bool {
        hub.ask(.get, "/myhub/registrations/\(id)-1-1").status.code == 200
    }

    /// The outcomes that a test send shows, in the order of its targets.
    func testSend(_ tags: String = "all") -> [String] {
        let text = hub.send("browser", tags: tags, query: "api-version=1&test").text
        return text.components(separatedBy: "<Outcome>").dropFirst().compactMap {
            $0.components(separatedBy: "</Outcome>").first
        }
    }
}
