// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import XML

/// Sends, and what became of them.
struct MessageRoutes: Sendable {
    let hub: any ServableHub
    let isShared: Bool

    var routes: [HubRoute] {
        var batch = HubRoute(.post, "/{hub}/messages/$batch", needs: .send) { call, _ in try sendBatch(call) }
        batch.maximumBody = HubNotification.maximumBatchRequest
        return [
            batch,
            HubRoute(.get, "/{hub}/messages/$batch/{id}", needs: .send) { try details($0, $1["id"]) },
            HubRoute(.post, "/{hub}/messages", needs: .send) { call, _ in try send(call) },
            HubRoute(.post, "/{hub}/schedulednotifications", needs: .send) { call, _ in try schedule(call) },
            HubRoute(.delete, "/{hub}/schedulednotifications/{id}", needs: .send) { try cancel($0, $1["id"]) },
            HubRoute(.get, "/{hub}/messages/{id}", needs: .send) { try details($0, $1["id"]) },
        ]
    }

    /// `POST /{hub}/messages`: to a tag expression, to everybody, or with `direct` to one handle; with `test` (one
    /// client says `debug`) the answer tells each device's fate. Where no device is addressed, the answer says so.
    private func send(_ call: HubCall) throws -> Response {
        let format = try Self.format(call.request)
        let audience = try audience(call, format)
        let notification = try Self.notification(call.request, format)
        guard !call.has("test"), !call.has("debug") else {
            let test = try hub.sendTest(notification, to: audience)
            var response = created(call, test.notificationID)
            response.body = test.encode()
            return response
        }
        return try take(notification, audience, call)
    }

    /// `POST /{hub}/messages/$batch`: one message to up to 1,000 handles, with one outcome.
    ///
    /// Two forms of `Location` are recorded, with and without `$batch`. In the second all SDKs find the id.
    private func sendBatch(_ call: HubCall) throws -> Response {
        let format = try Self.format(call.request)
        guard try expression(call) == nil else { throw HubFault.bad("A direct send has device handles, and no tags.") }
        guard case .native(let platform) = format else {
            throw HubFault.bad("A direct send needs the format of a platform.")
        }
        let contentType = call.request.fields[.contentType] ?? ""
        guard let parts = MultipartBody(call.request.body, contentType: contentType),
            let body = parts.part("notification"), let devices = parts.part("devices")
        else { throw HubFault.bad("Could not find a part of the multipart content supplied.") }
        guard body.bytes.count <= HubNotification.maximumRequest else {
            throw HubFault.tooLarge(HubNotification.maximumRequest)
        }
        let notification = HubNotification(
            format: format, body: body.bytes, contentType: body.type,
            headers: try PushFields.headers(call.request.fields, format))
        let handles = try DeviceBatch.handles(devices.bytes, platform)
        return try take(notification, .devices(handles), call, location: call.batchURL)
    }

    /// `POST /{hub}/schedulednotifications`: as a send, at the time that a header field names; to no single handle, as at Azure.
    private func schedule(_ call: HubCall) throws -> Response {
        let format = try Self.format(call.request)
        guard let time = call.request.fields[.scheduleTime].flatMap(HubTime.seconds),
            time <= call.now + HubNotification.maximumDelay
        else {
            throw HubFault.bad(
                "The ServiceBusNotification-ScheduleTime header must be a time in UTC, seven days ahead at most.")
        }
        guard !call.has("direct") else { throw HubFault.bad("A direct send has no time.") }
        var notification = try Self.notification(call.request, format)
        notification.notBefore = time
        return try take(notification, .tags(try expression(call)), call)
    }

    /// `DELETE /{hub}/schedulednotifications/{id}`
    private func cancel(_ call: HubCall, _ id: String) throws -> Response {
        try hub.cancel(id, asManager: call.isManager)
        return Response(status: .ok)
    }

    /// The keys of each policy are a sender, so none of them fills the queue for the others and for the backend's users.
    private func take(
        _ notification: HubNotification, _ audience: HubAudience, _ call: HubCall, location: ((String) -> String)? = nil
    ) throws -> Response {
        var notification = notification
        notification.sender = HubNotification.sender(ofKey: call.key.name)
        let receipt = try hub.send(notification, to: audience)
        var response = created(call, receipt.notificationID)
        if let location { response.fields[.location] = location(receipt.notificationID ?? "") }
        if receipt.hasNoTarget { response.fields[.sendState] = NotificationDetails.noTargetFound }
        return response
    }

    private func created(_ call: HubCall, _ id: String?) -> Response {
        HubResponse.created(location: call.url(of: id ?? "", query: call.request.query))
    }

    /// `GET /{hub}/messages/{id}`
    private func details(_ call: HubCall, _ id: String) throws -> Response {
        var details = try hub.message(id, asManager: call.isManager)
        details.location = "sb://" + call.selfURL.dropFirst("https://".count)
        return Response(status: .ok, fields: [.contentType: HubResponse.xml], body: details.encode())
    }

    private static func format(_ request: Request) throws(HubFault) -> HubNotification.Format {
        guard let text = request.fields[.format], let format = HubNotification.Format(header: text) else {
            throw .bad("The ServiceBusNotification-Format header is missing or invalid.")
        }
        return format
    }

    /// - Returns: nil for a broadcast: the field is absent, or empty as .NET sends it then.
    /// - Throws: `HubFault`, 401, for a tag of the backend's users where the hub is shared and the key does not grant Manage.
    private func expression(_ call: HubCall) throws -> TagExpression? {
        guard let text = call.request.fields[.tags], text.utf8.contains(where: { $0 != UInt8(ascii: " ") }) else {
            return nil
        }
        let expression = try TagExpression(parsing: text)
        if isShared, expression.tags.contains(where: \.isReserved) { try call.require(.manage) }
        return expression
    }

    private func audience(_ call: HubCall, _ format: HubNotification.Format) throws -> HubAudience {
        let expression = try expression(call)
        guard call.has("direct") else { return .tags(expression) }
        guard expression == nil else { throw HubFault.bad("A direct send has a device handle, and no tags.") }
        return .devices([try Self.directTarget(format, call.request)])
    }

    private static func notification(
        _ request: Request, _ format: HubNotification.Format
    ) throws(HubFault) -> HubNotification {
        HubNotification(
            format: format, body: request.body, contentType: request.fields[.contentType] ?? "",
            headers: try PushFields.headers(request.fields, format))
    }

    /// The device of a direct send, which need not be registered.
    private static func directTarget(
        _ format: HubNotification.Format, _ request: Request
    ) throws(HubFault) -> DeviceHandle {
        guard case .native(let platform) = format else {
            throw .bad("A direct send needs the format of a platform.")
        }
        guard let text = request.fields[.deviceHandle] else {
            throw .bad("The ServiceBusNotification-DeviceHandle header is missing.")
        }
        do throws(HandleError) {
            return try DeviceHandle(direct: text, platform, request.fields)
        } catch {
            throw .bad("The device handle is invalid: \(error).")
        }
    }
}

extension DeviceHandle {
    /// Baidu's two ids are one text, `user-channel`; a browser's keys are fields of their own.
    init(direct text: String, _ platform: Platform, _ fields: HTTPFields = [:]) throws(HandleError) {
        guard platform == .baidu else {
            self = try DeviceHandle(
                platform, HandleParts(text, p256dh: fields[named: "P256DH"], auth: fields[named: "Auth"]))
            return
        }
        let halves = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1).map { String(Substring($0)) }
        guard halves.count == 2, let user = halves.first, let channel = halves.last else { throw .empty }
        self = try DeviceHandle(.baidu, HandleParts(channel, baiduUser: user))
    }
}

extension TestSend {
    /// `<NotificationOutcome>`, as `POST /{hub}/messages?test` answers it. The handles in it go to a caller who may
    /// send to them.
    func encode() -> [UInt8] {
        var xml = XMLWriter()
        let attributes: KeyValuePairs = ["xmlns": Namespace.hub, "xmlns:i": Namespace.instance]
        xml.element("NotificationOutcome", attributes: attributes) { xml in
            let successes = results.count { $0.isSuccess }
            xml.element("Success", String(successes))
            xml.element("Failure", String(results.count - successes))
            xml.element("Results") { xml in
                for result in results { Self.write(result, to: &xml) }
            }
        }
        return xml.bytes
    }

    private static func write(_ result: Result, to xml: inout XMLWriter) {
        xml.element("RegistrationResult") { xml in
            xml.element("ApplicationPlatform", result.handle.platform.formatHeader)
            xml.element("PnsHandle", result.handle.channel)
            if let id = result.registrationID { xml.element("RegistrationId", id) }
            xml.element("Outcome", result.outcome)
        }
    }
}
