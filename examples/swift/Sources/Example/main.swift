// SPDX-License-Identifier: Apache-2.0
// Registers a device, sends two messages to its user, reads them, and prints their delivery status. See README.md.
import DeviceAPI
import DeviceClient
import Foundation

struct Failure: Error { let words: String }

func setting(_ name: String) throws -> String {
    guard let value = ProcessInfo.processInfo.environment[name] else { throw Failure(words: "Please set \(name).") }
    return value
}

func run(user: String, password: String) async throws {
    let endpoint = try Endpoint(setting("APP_BACKEND_URL"))
    let credentials = try Credentials(user: user, password: password)
    let transport = makeTransport()
    // An app makes this id once and keeps it; on Apple's systems KeychainStorage does. The handle comes from the push service.
    let registration = RegisterClient(
        endpoint: endpoint, credentials: credentials, transport: transport,
        storage: MemoryStorage(registrationID: "example-swift"))
    let notifications = NotificationClient(endpoint: endpoint, credentials: credentials, transport: transport)

    try await registration.register(handle: "token-of-example-swift", platform: .fcm)
    let sent = try await notifications.send(PushMessage(to: .one(user), title: "Lunch", body: "At noon"))
    _ = try await notifications.send(PushMessage(to: .one(user), body: "The code is 4711", isSecure: true))

    for message in try await notifications.inbox(limit: 2).messages {
        print("\(message.sender ?? ""): \(try await text(of: message, notifications))")
    }

    guard let messageID = sent.messageID else { return }
    var outcomes = try await notifications.timeline(of: messageID).outcomes
    for _ in 0..<30 where outcomes.contains(where: { ["Enqueued", "Processing"].contains($0.state) }) {
        try await Task.sleep(nanoseconds: 1_000_000_000)
        outcomes = try await notifications.timeline(of: messageID).outcomes
    }
    for outcome in outcomes {
        print("\(outcome.platform): \(outcome.state)" + outcome.counts.map { ", \($0.name) \($0.devices)" }.joined())
    }
}

func text(of message: InboxMessage, _ notifications: NotificationClient) async throws -> String {
    guard message.isSecure, let reference = SecureReference(id: message.id) else {
        return [message.title, message.body].compactMap(\.self).joined(separator: ", ")
    }
    // Only the id travelled to the device. Fetching the text marks the message as read.
    return try await notifications.secureMessage(reference).payload
}

/// What a person reads of an error.
func words(for error: any Error) -> String {
    switch error {
    case DeviceClientError.unreachable(let reason): return "no answer: \(reason)"
    case let error as DeviceClientError:
        guard let problem = error.problem else { return "\(error)" }
        return "\(problem.status.code): \(problem.detail)" + (problem.field.map { " (\($0))" } ?? "")
    case let failure as Failure: return failure.words
    default: return "\(error)"
    }
}

do {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "verify", arguments.count == 4 {
        let headers = Array(arguments.dropFirst())
        let body = try FileHandle.standardInput.readToEnd() ?? Data()
        try verify(
            secret: setting("APP_BACKEND_WEBHOOK_SECRET"), id: headers[0], timestamp: headers[1],
            signatures: headers[2], body: body)
        print("the signature is right")
    } else {
        try await run(user: setting("APP_BACKEND_USER"), password: setting("APP_BACKEND_PASSWORD"))
    }
} catch {
    FileHandle.standardError.write(Data((words(for: error) + "\n").utf8))
    exit(1)
}
