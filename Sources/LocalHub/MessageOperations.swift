// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Store

/// Sends, and what became of them.
struct MessageOperations: Sendable {
    let store: any HubStore
    let reader: RegistrationReader

    var routes: [HubRoute] {
        [
            HubRoute(.post, "/{hub}/messages", needs: .send) { call, _ in try send(call) },
            HubRoute(.get, "/{hub}/messages/{id}", needs: .send) { try details($0, $1["id"]) },
        ]
    }

    /// `POST /{hub}/messages`: to a tag expression, to everybody, or with `direct` to one handle; with `test` (one
    /// client says `debug`) the answer tells each device's fate.
    private func send(_ call: HubCall) throws -> Response {
        let format = try Self.format(call.request)
        let isDirect = call.has("direct")
        let expression = try Self.expression(call.request)
        guard !(isDirect && expression != nil) else {
            throw HubRefusal.bad("A direct send has a device handle, and no tags.")
        }
        var record = MessageRecord(id: Self.newID(call.now), format: format, tags: expression, now: call.now)
        var results = NotificationOutcome()
        // Every target of one send meets the same fate: no service has an opinion of its own yet.
        let outcome = Self.outcome(format, call.request)
        let visit: (Target) -> Void = { target in
            record.add(target, outcome)
            results.add(target, outcome)
        }
        if isDirect {
            visit(try Self.directTarget(format, call.request))
        } else {
            try TargetSelection(store: store, reader: reader).forEach(format, expression, visit)
        }
        try store.putHubMessage(record.stored)
        var response = HubAnswer.created(location: call.url(of: record.id, query: call.request.query))
        if call.has("test") || call.has("debug") { response.body = results.encode() }
        return response
    }

    /// Where a platform's driver will stand: until there is one, nobody is sent anything, and the record says so.
    /// A native notification that is too large for its service is told apart, as Azure does at delivery; a template's
    /// size is not known before it is filled in.
    private static func outcome(_ format: HubNotification.Format, _ request: Request) -> PushOutcome {
        request.body.count > format.maximumPayload ? .invalidNotificationSize : .skipped
    }

    private static func format(_ request: Request) throws(HubRefusal) -> HubNotification.Format {
        guard let text = request.fields[.format], let format = HubNotification.Format(header: text) else {
            throw .bad("The ServiceBusNotification-Format header is missing or invalid.")
        }
        return format
    }

    /// - Returns: nil for a broadcast: the field is absent, or empty as .NET sends it then.
    private static func expression(_ request: Request) throws -> TagExpression? {
        guard let text = request.fields[.tags], text.utf8.contains(where: { $0 != UInt8(ascii: " ") }) else {
            return nil
        }
        return try TagExpression(parsing: text)
    }

    /// The device of a direct send, which need not be registered.
    private static func directTarget(
        _ format: HubNotification.Format, _ request: Request
    ) throws(HubRefusal) -> Target {
        guard case .native(let platform) = format else {
            throw .bad("A direct send needs the format of a platform.")
        }
        guard let text = request.fields[.deviceHandle] else {
            throw .bad("The ServiceBusNotification-DeviceHandle header is missing.")
        }
        do throws(HandleError) {
            let handle = try handle(platform, text, request.fields)
            return Target(registrationID: nil, description: RegistrationDescription(handle: handle))
        } catch {
            throw .bad("The device handle is invalid: \(error).")
        }
    }

    /// Baidu's two ids are one text, `user-channel`; a browser's keys are fields of their own.
    private static func handle(
        _ platform: Platform, _ text: String, _ fields: HTTPFields
    ) throws(HandleError) -> DeviceHandle {
        func field(_ name: String) -> String { HTTPField.Name(name).flatMap { fields[$0] } ?? "" }
        guard platform == .baidu else {
            return try DeviceHandle(platform, text, p256dh: field("P256DH"), auth: field("Auth"))
        }
        let halves = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1).map { String(Substring($0)) }
        guard halves.count == 2, let user = halves.first, let channel = halves.last else { throw .empty }
        return try DeviceHandle(.baidu, channel, baiduUser: user)
    }

    /// 32 hexadecimal digits, the time, and two numbers, as the older generation of Azure's servers makes them.
    private static func newID(_ now: Int64) -> String {
        let digits = TrackingID.random().utf8.filter { $0 != UInt8(ascii: "-") }
        return "\(String(decoding: digits, as: UTF8.self))-\(HubTime(now).compact)-1-01"
    }

    /// `GET /{hub}/messages/{id}`
    private func details(_ call: HubCall, _ id: String) throws -> Response {
        guard RegistrationID(id) != nil,
            let message = try store.hubMessage(id, now: Timestamp(seconds: call.now))
        else { throw HubRefusal(.notFound, "The notification is not known here.") }
        let details = try MessageRecord(message).details(location: "sb://" + call.selfURL.dropFirst("https://".count))
        return Response(status: .ok, fields: [.contentType: HubAnswer.xml], body: details.encode())
    }
}
