// SPDX-License-Identifier: Apache-2.0
// What an app does, by the client that openapi-generator has made, whose sources are compiled with this one.
import Foundation

let environment = ProcessInfo.processInfo.environment
let user = environment["APP_USER"] ?? ""

func caller(_ authorization: String) -> OpenAPIClientAPIConfiguration {
    OpenAPIClientAPIConfiguration(
        basePath: environment["APP_URL"] ?? "", customHeaders: ["Authorization": authorization])
}

/// Status and body of a call that fails. Every status but success is an error, 304, too.
func failure(_ call: () async throws -> Void) async -> (status: Int, body: Data) {
    do {
        try await call()
    } catch let ErrorResponse.error(status, body, _, _) {
        return (status, body ?? Data())
    } catch {}
    return (200, Data())
}

let pair = "\(user):\(environment["APP_PASSWORD"] ?? "")"
let token = try await AppTokensAPI.createToken(
    appTokenWish: AppTokenWish(scopes: [.send, .read, .register], label: "main.swift"),
    apiConfiguration: caller("Basic \(Data(pair.utf8).base64EncodedString())"))
let client = caller("Bearer \(token.token)")

let keys = BrowserKeys(p256dh: environment["APP_P256DH"] ?? "", auth: environment["APP_AUTH"] ?? "")
let device = DeviceRegistration(platform: .browser, handle: environment["APP_HANDLE"] ?? "", keys: keys)
try await DevicesAPI.registerDevice(id: "drive-swift", deviceRegistration: device, apiConfiguration: client)
for device in try await DevicesAPI.listDevices(apiConfiguration: client) {
    print("device", device.platform.rawValue)
}

let message = MessageObject(to: .string(user), title: "Lunch", body: "At noon")
let sent = try await SendingAPI.sendMessage(messageObject: message, apiConfiguration: client)
let secret = MessageObject(to: .array([.string(user)]), body: "4711", secure: true)
_ = try await SendingAPI.sendMessage(messageObject: secret, apiConfiguration: client)
print("sent", sent.outcomes.map(\.platform.rawValue).joined(separator: " "))

for message in try await InboxAPI.listInbox(unread: true, apiConfiguration: client).messages {
    if message.secure {
        let read = try await InboxAPI.readSecureMessage(id: String(message.id), apiConfiguration: client)
        print("secure", read.payload)
    } else {
        try await InboxAPI.markAsRead(id: message.id, apiConfiguration: client)
        print("plain", message.body ?? "")
    }
}
let answer = try await InboxAPI.listInboxWithRequestBuilder(apiConfiguration: client).execute()
let tag = answer.header.first { $0.key.lowercased() == "etag" }?.value
let unchanged = await failure { _ = try await InboxAPI.listInbox(ifNoneMatch: tag, apiConfiguration: client) }
print("unchanged", unchanged.status)

let delivery = try await DeliveryAPI.readDeliveryStatus(id: sent.messageId ?? "", apiConfiguration: client)
let platforms = delivery.outcomes.map(\.platform.rawValue).joined(separator: " ")
print("delivery", platforms, delivery.read == true ? "read" : "unread")

let wrong = MessageObject(to: .string(user), body: "At noon", badge: -1)
let refused = await failure { _ = try await SendingAPI.sendMessage(messageObject: wrong, apiConfiguration: client) }
let problem = try JSONDecoder().decode(Problem.self, from: refused.body)
print("refused", problem.status, problem.field ?? "")
