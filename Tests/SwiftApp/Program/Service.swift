// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import Foundation
import HTTP
import UserNotifications

/// A backend made of a closure.
struct Answering: DeviceTransport {
    let answer: @Sendable (Request) async throws -> Response

    func send(_ request: Request) async throws -> Response { try await answer(request) }
}

/// The extension of an app.
private final class Service: SecureNotificationService {
    var client: NotificationClient?
    var fault: KeychainStorage.Failure?
    var patience = 20.0

    override var seconds: Double { patience }

    override func notificationClient() throws -> NotificationClient? {
        if let fault { throw fault }
        return client
    }
}

/// What was asked of the backend and what was shown.
private final class Seen: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []

    var all: [String] { lock.withLock { lines } }
    func add(_ line: String) { lock.withLock { lines.append(line) } }
}

private let secure: [String: String] = ["secureId": "7", "secureToken": "AAAAAAAAAAAAAAAAAAAA-_"]
private let asked = "GET /api/notifications/AAAAAAAAAAAAAAAAAAAA-_"
private let message = Response.json(Array(#"{"Id":7,"Payload":"The code is 7","Read":false,"From":"bob"}"#.utf8))
private let generic = "Mail: A secure message is waiting."

/// Hands a push to the extension and returns what was asked and shown, in this order, after a while without more.
private func push(
    _ userInfo: [String: String] = secure, to service: Service, expire: Bool = false,
    answer: @escaping @Sendable (Request) async throws -> Response
) async throws -> [String] {
    let seen = Seen()
    let transport = Answering { request in
        seen.add("\(request.method.rawValue) \(request.target)")
        return try await answer(request)
    }
    if service.client == nil, service.fault == nil, service.patience > 0 {
        service.client = NotificationClient(
            endpoint: try Endpoint("https://push.example.com"), credentials: try Credentials(token: "abt_1"),
            transport: transport)
    }
    let content = UNMutableNotificationContent()
    (content.title, content.body, content.userInfo) = ("Mail", "A secure message is waiting.", userInfo)
    service.didReceive(UNNotificationRequest(content: content)) { seen.add("\($0.title): \($0.body)") }
    if expire { service.serviceExtensionTimeWillExpire() }
    // Long enough for each answer below, and for a second one that must not come.
    try await Task.sleep(nanoseconds: 700_000_000)
    return seen.all
}

private func expect(_ seen: [String], _ wanted: [String]) -> String? { seen == wanted ? nil : "\(seen)" }

func checkService() async {
    await check("a push that is not secure is shown as it came, and nothing is asked") {
        expect(try await push(["messageId": "x"], to: Service()) { _ in message }, [generic])
    }
    await check("the text of a secure push takes the place of the generic one, with its sender") {
        expect(try await push(to: Service()) { _ in message }, [asked, "bob: The code is 7"])
    }
    await check("a message without a sender keeps the title of the push") {
        let body = #"{"Id":7,"Payload":"p","Read":true}"#
        return expect(try await push(to: Service()) { _ in .json(Array(body.utf8)) }, [asked, "Mail: p"])
    }
    for problem in [Problem(.noSuchMessage, "n"), Problem(.sessionEnded, "n"), Problem(.storeBusy, "n")] {
        await check("a refusal with \(problem.status.code) leaves the generic text") {
            expect(try await push(to: Service()) { _ in problem.response }, [asked, generic])
        }
    }
    await check("a backend that cannot be reached leaves the generic text") {
        expect(try await push(to: Service()) { _ in throw DeviceTransportError(reason: "away") }, [asked, generic])
    }
    await check("a keychain that cannot be read leaves the generic text") {
        let service = Service()
        service.fault = .status(-25308)
        return expect(try await push(to: service) { _ in message }, [generic])
    }
    await check("without a user nothing is asked, and the generic text is shown") {
        let service = Service()
        service.patience = 0
        return expect(try await push(to: service) { _ in message }, [generic])
    }
    await checkLateness()
}

/// Answers late, and does not heed that the call was cancelled.
@Sendable private func late(_ request: Request) async -> Response {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.4) { continuation.resume(returning: message) }
    }
}

private func checkLateness() async {
    await check("at the deadline the generic text is shown, and a late answer changes nothing") {
        let service = Service()
        service.patience = 0.05
        return expect(try await push(to: service, answer: late), [asked, generic])
    }
    await check("when the system waits no longer the generic text is shown, once") {
        let seen = try await push(to: Service(), expire: true, answer: late)
        return expect(seen.filter { $0 != asked }, [generic])
    }
    await check("time that expires after the answer shows nothing a second time") {
        let service = Service()
        let seen = try await push(to: service) { _ in message }
        service.serviceExtensionTimeWillExpire()
        return expect(seen, [asked, "bob: The code is 7"])
    }
}
