// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Testing

@testable import APNs

private let id = "dHN0LXNyY2gtY2hubA=="
private let update = #"{"aps":{"event":"update","timestamp":1800000000,"content-state":{}}}"#

private func channels() throws -> BroadcastChannels {
    BroadcastChannels(
        bundleID: "com.example.app", management: try authority(APNsEnvironment.sandbox.channelAuthority),
        sending: try authority(APNsEnvironment.sandbox.authority))
}

private func send(
    _ json: String = update, _ headers: [String: String] = [:], storage: BroadcastChannels.Storage = .newest,
    to id: String = id
) throws -> Request {
    try channels().send(
        .apns(json: Array(json.utf8), headers: headers.map { PushHeader($0, $1) }), to: id, storage: storage)
}

@Suite struct `A broadcast channel` {
    @Test func `is made, read, listed and deleted by Apple's requests`() throws {
        let channels = try channels()
        let requests = [channels.create(.newest), try channels.read(id), channels.list(), try channels.delete(id)]
        #expect(requests.map(\.method) == [.post, .get, .get, .delete])
        #expect(requests.allSatisfy { $0.authority == "api-manage-broadcast.sandbox.push.apple.com:2195" })
        let resources = requests.map { $0.path.replacing("/1/apps/com.example.app/", with: "") }
        #expect(resources == ["channels", "channels", "all-channels", "channels"])
        let ids = requests.map { $0.fields[.channelID] }
        #expect(ids == [nil, id, nil, id])
        #expect(
            String(decoding: requests[0].body, as: UTF8.self)
                == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        #expect(requests.dropFirst().allSatisfy { $0.body.isEmpty })
        let requestIDs = requests.compactMap { $0.fields[.requestID].flatMap(UUIDText.canonical) }
        #expect(Set(requestIDs).count == 4)
    }

    @Test(arguments: ["", "a b", "a\r\nb", "é", String(repeating: "a", count: 257)])
    func `has an id of base64`(_ id: String) throws {
        #expect(throws: BadChannelID()) { try channels().read(id) }
        #expect(throws: BadChannelID()) { try channels().delete(id) }
        #expect(throws: NotificationFault.channelID.refusal) { try send(to: id) }
    }

    @Test func `takes a Live Activity's notification without a topic`() throws {
        let request = try send(update, ["apns-collapse-id": "x", "apns-expiration": "1800000000"])
        #expect(request.method == .post && request.authority == "api.sandbox.push.apple.com")
        #expect(request.path == "/4/broadcasts/apps/com.example.app" && request.body == Array(update.utf8))
        #expect(request.fields[.channelID] == id && request.fields[.pushType] == "liveactivity")
        #expect(request.fields[.pushPriority] == "10" && request.fields[.expiration] == "1800000000")
        #expect(request.fields[.topic] == nil && request.fields[.collapseID] == nil && request.fields[.id] != nil)
        #expect(try send(storage: .none).fields[.expiration] == "0")
        #expect(try send().fields[.expiration] == nil)
    }

    @Test func `refuses what APNs would`() throws {
        #expect(throws: NotificationFault.broadcastExpiration.refusal) {
            try send(update, ["apns-expiration": "1800000000"], storage: .none)
        }
        #expect(throws: NotificationFault.broadcastType.refusal) { try send(#"{"aps":{"alert":"x"}}"#) }
        let filler = String(repeating: "a", count: 5121 - update.utf8.count - 7)
        let long = update.replacing("{}}}", with: "{}},\"a\":\"\(filler)\"}")
        #expect(long.utf8.count == 5121)
        #expect(throws: NotificationFault.tooLarge.refusal) { try send(long) }
        #expect(try send(long.replacing("aa", with: "a", maxReplacements: 1)).body.count == 5120)
    }

    @Test func `is known by APNs' answers`() throws {
        let channels = try channels()
        var made = answer(201)
        made.fields[.channelID] = id
        #expect(try channels.created(made) == id)
        let body = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        #expect(try channels.channel(answer(200, body)) == BroadcastChannels.Channel(storage: .newest))
        #expect(try channels.ids(answer(200, #"{"channels":["a=","b"]}"#)) == ["a=", "b"])
        #expect(throws: Never.self) { try channels.deleted(answer(204)) }
    }

    @Test func `is not there where the answer is another`() throws {
        let channels = try channels()
        let limit = answer(400, #"{"reason":"CannotCreateChannelConfig"}"#)
        let error = BroadcastError(status: 400, reason: "CannotCreateChannelConfig")
        #expect(throws: error) { try channels.created(limit) }
        #expect(throws: error) { try channels.channel(limit) }
        #expect(throws: error) { try channels.ids(limit) }
        #expect(throws: error) { try channels.deleted(limit) }
        #expect(throws: BroadcastError(status: 201, reason: nil)) { try channels.created(answer(201)) }
        for body in ["", "{}", #"{"message-storage-policy":2}"#] {
            #expect(throws: BroadcastError(status: 200, reason: nil)) { try channels.channel(answer(200, body)) }
        }
        for body in ["", "{}", #"{"channels":[7]}"#] {
            #expect(throws: BroadcastError(status: 200, reason: nil)) { try channels.ids(answer(200, body)) }
        }
        #expect(throws: BroadcastError(status: 200, reason: nil)) { try channels.deleted(answer(200)) }
    }

    static let refusals: [(Int, String, PushOutcome, PushResult.Action)] = [
        (400, "ChannelNotRegistered", .badChannel, .settle), (400, "BadChannelId", .badChannel, .settle),
        (400, "BadDeviceToken", .badChannel, .settle), (410, "Unregistered", .expiredChannel, .settle),
        (429, "TooManyRequests", .throttled, .settle), (400, "BadRequestPayload", .invalidNotificationFormat, .settle),
        (400, "FeatureNotEnabled", .invalidCredentials, .holdCredential(reason: CredentialFault.topic.rawValue)),
        (403, "TopicMismatch", .invalidCredentials, .holdCredential(reason: CredentialFault.topic.rawValue)),
        (503, "Service Unavailable", .pnsUnavailable, .retry(afterSeconds: 900)),
        (403, "ExpiredProviderToken", .invalidCredentials, .renewCredential),
    ]

    @Test(arguments: refusals.indices)
    func `has results that say nothing of a device`(_ row: Int) throws {
        let (status, reason, outcome, action) = Self.refusals[row]
        let result = try channels().result(of: answer(status, #"{"reason":"\#(reason)"}"#), now: { noon })
        #expect(result.outcome == outcome && result.action == action)
    }
}
