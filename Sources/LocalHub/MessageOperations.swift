// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
internal import Push
import Store
import Text

/// Sends, and what became of them.
struct MessageOperations: Sendable {
    let store: any HubStore
    let reader: RegistrationReader
    /// Delivers to the platforms that it has drivers for; nil: there is none.
    let courier: Courier?

    var routes: [HubRoute] {
        [
            HubRoute(.post, "/{hub}/messages", needs: .send) { call, _ in try send(call) },
            HubRoute(.get, "/{hub}/messages/{id}", needs: .send) { try details($0, $1["id"]) },
        ]
    }

    /// `POST /{hub}/messages`: to a tag expression, to everybody, or with `direct` to one handle; with `test` (one
    /// client says `debug`) the answer tells each device's fate. A message that no device is addressed by is not queued,
    /// and the answer says so.
    private func send(_ call: HubCall) throws -> Response {
        let format = try Self.format(call.request)
        let audience = try Self.audience(call, format)
        let notification = Self.notification(call.request, format)
        let expression: TagExpression? = if case .tags(let expression) = audience { expression } else { nil }
        let record = MessageRecord(id: Self.newID(call.now), format: format, tags: expression, now: call.now)
        var response = HubAnswer.created(location: call.url(of: record.id, query: call.request.query))
        if call.has("test") || call.has("debug") {
            response.body = try sendNow(notification, audience, record, now: call.now).encode()
        } else if let courier, courier.driver(for: format) != nil, try hasTarget(format, audience) {
            try courier.enqueue(QueuedMessage(notification, to: audience, record: record))
        } else if try skip(notification, audience, record, now: call.now).isEmpty {
            response.fields[.sendState] = NotificationDetails.noTargetFound
        }
        return response
    }

    /// A test send: to so few that the answer can wait for them.
    private func sendNow(
        _ notification: HubNotification, _ audience: QueuedMessage.Audience, _ record: MessageRecord, now: Int64
    ) throws -> NotificationOutcome {
        guard let courier, courier.driver(for: notification.format) != nil else {
            return try skip(notification, audience, record, now: now)
        }
        var targets: [Target] = []
        try forEachTarget(notification.format, audience) { target in
            if targets.count < NotificationOutcome.maximumResults { targets.append(target) }
        }
        let outcomes = courier.deliver(notification, to: targets)
        return try finish(record, zip(targets, outcomes), now: now)
    }

    /// Nobody is sent anything where there is no driver, and the record says so. A native notification that is too large
    /// for its service is told apart, as Azure does at delivery; a template's size is not known before it is filled in.
    private func skip(
        _ notification: HubNotification, _ audience: QueuedMessage.Audience, _ record: MessageRecord, now: Int64
    ) throws -> NotificationOutcome {
        let isTooLarge = notification.body.count > notification.format.maximumPayload
        let outcome: PushOutcome = isTooLarge ? .invalidNotificationSize : .skipped
        var targets: [Target] = []
        try forEachTarget(notification.format, audience) { targets.append($0) }
        return try finish(record, targets.lazy.map { ($0, outcome) }, now: now)
    }

    private func finish(
        _ begun: MessageRecord, _ outcomes: some Sequence<(Target, PushOutcome)>, now: Int64
    ) throws -> NotificationOutcome {
        var (record, results) = (begun, NotificationOutcome())
        for (target, outcome) in outcomes {
            record.add(target, outcome)
            results.add(target, outcome)
        }
        (record.startedAt, record.endedAt) = (now, now)
        try store.putHubMessage(record.stored)
        return results
    }

    private func hasTarget(
        _ format: HubNotification.Format, _ audience: QueuedMessage.Audience
    ) throws(StoreError) -> Bool {
        switch audience {
        case .device: true
        case .tags(let expression): try TargetSelection(store: store, reader: reader).hasTarget(format, expression)
        }
    }

    private func forEachTarget(
        _ format: HubNotification.Format, _ audience: QueuedMessage.Audience, _ visit: (Target) -> Void
    ) throws(StoreError) {
        switch audience {
        case .device(let description): visit(Target(registrationID: nil, version: nil, description: description))
        case .tags(let expression):
            try TargetSelection(store: store, reader: reader).forEach(format, expression, visit)
        }
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

    private static func audience(_ call: HubCall, _ format: HubNotification.Format) throws -> QueuedMessage.Audience {
        let expression = try expression(call.request)
        guard call.has("direct") else { return .tags(expression) }
        guard expression == nil else { throw HubRefusal.bad("A direct send has a device handle, and no tags.") }
        return .device(try directTarget(format, call.request))
    }

    /// Beginnings of the names of fields that are for the push service.
    private static let pushFields = ["apns-", "x-wns-", "x-notificationclass", "servicebusnotification-apns-"]
    /// Fields of Web Push (RFC 8030 section 5).
    private static let webPushFields = ["ttl", "urgency", "topic"]

    private static func notification(_ request: Request, _ format: HubNotification.Format) -> HubNotification {
        let headers = request.fields.filter { field in
            let name = field.name.canonicalName
            return webPushFields.contains(name) || pushFields.contains { name.hasPrefix($0) }
        }
        return HubNotification(
            format: format, body: request.body, contentType: request.fields[.contentType] ?? "",
            headers: headers.map { PushHeader($0.name.rawName, $0.value) })
    }

    /// The device of a direct send, which need not be registered.
    private static func directTarget(
        _ format: HubNotification.Format, _ request: Request
    ) throws(HubRefusal) -> RegistrationDescription {
        guard case .native(let platform) = format else {
            throw .bad("A direct send needs the format of a platform.")
        }
        guard let text = request.fields[.deviceHandle] else {
            throw .bad("The ServiceBusNotification-DeviceHandle header is missing.")
        }
        do throws(HandleError) {
            return RegistrationDescription(handle: try handle(platform, text, request.fields))
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
        guard RegistrationID(id) != nil, let record = try record(id, call.now) else {
            throw HubRefusal(.notFound, "The notification is not known here.")
        }
        let details = record.details(location: "sb://" + call.selfURL.dropFirst("https://".count))
        return Response(status: .ok, fields: [.contentType: HubAnswer.xml], body: details.encode())
    }

    /// A message is put among those that are done before it leaves the queue, so who misses it in both looks again.
    private func record(_ id: String, _ now: Int64) throws(StoreError) -> MessageRecord? {
        if let record = try finished(id, now) { return record }
        guard let courier else { return nil }
        if let waiting = try courier.store.queuedHubMessage(id) { return try QueuedMessage(waiting).record }
        return try finished(id, now)
    }

    private func finished(_ id: String, _ now: Int64) throws(StoreError) -> MessageRecord? {
        guard let message = try store.hubMessage(id, now: Timestamp(seconds: now)) else { return nil }
        var record = try MessageRecord(id: id, document: message.document)
        // Written by a version that began and ended every send at once.
        record.startedAt = record.startedAt ?? record.enqueuedAt
        record.endedAt = record.endedAt ?? record.enqueuedAt
        return record
    }
}
