// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import HTTPTypes
internal import Text

extension HubClient {
    /// `POST /{hub}/messages`, or `/{hub}/schedulednotifications` for one that has a time: hands a message to the hub, which then
    /// sends it to all whom the expression addresses.
    ///
    /// Made once, whatever happens: after a failure without an answer the message may or may not be on its way.
    /// - Parameter expression: nil for every device of the platform.
    /// - Throws: before anything is sent, what `HubNotification.check(for:)` throws.
    package func send(
        _ notification: HubNotification, to expression: TagExpression?
    ) throws(HubError) -> SendReceipt {
        let (response, trackingID) = try perform(Self.call(notification, to: expression))
        return Self.receipt(response, trackingID: trackingID)
    }

    static func call(_ notification: HubNotification, to expression: TagExpression?) throws(HubError) -> Call {
        try notification.check(for: expression)
        var fields = notification.fields
        fields[.format] = notification.format.header
        fields[.tags] = expression?.description
        fields[.contentType] = notification.contentType
        fields[.scheduleTime] = notification.notBefore.map { HubTime($0).iso8601 }
        return Call(
            method: .post, path: notification.notBefore == nil ? "messages" : "schedulednotifications", fields: fields,
            body: notification.body, isRepeatable: false)
    }

    /// What a hub's answer says that has taken a message.
    static func receipt(_ response: Response, trackingID: String) -> SendReceipt {
        let id = response.fields[.location].map(Self.lastSegment)
        return SendReceipt(
            notificationID: id?.isEmpty == false ? id : nil, trackingID: trackingID,
            hasNoTarget: response.fields[.sendState] == NotificationDetails.noTargetFound)
    }

    /// `GET /{hub}/messages/{id}`: what became of a message; nil as long as the hub has not looked at it, and where it
    /// keeps no such records (below the Standard tier it answers `unauthorized`).
    package func details(_ notificationID: String) throws(HubError) -> NotificationDetails? {
        let response: Response
        do throws(HubError) {
            response = try perform(Self.question(notificationID)).response
        } catch .notFound {
            return nil
        }
        return try Self.details(in: response)
    }

    static func question(_ notificationID: String) -> Call {
        Call(method: .get, path: "messages/\(PercentEncoding.encode(notificationID))")
    }

    /// What a hub's answer says that knows the message.
    static func details(in response: Response) throws(HubError) -> NotificationDetails {
        do throws(AtomError) {
            return try NotificationDetails(decoding: response.body)
        } catch {
            throw .malformedAnswer("notification details expected, not \(error)")
        }
    }
}

extension HubNotification {
    /// Whether any hub takes the message for that expression.
    /// - Throws: `HubError.payloadTooLarge`, and `refused` for an expression with too many tags (`invalidExpression`) or a
    ///   header that HTTP cannot carry (`invalidHeader`).
    package func check(for expression: TagExpression?) throws(HubError) {
        guard body.count <= format.maximumPayload else { throw .payloadTooLarge }
        guard expression?.isWithinLimits != false else { throw .refused(status: 400, code: "invalidExpression") }
        guard headers.allSatisfy({ HTTPField.Name($0.name) != nil && HTTPField.isValidValue($0.value) }) else {
            throw .refused(status: 400, code: "invalidHeader")
        }
    }

    /// The message's own headers; those of the hub's language are put over them.
    fileprivate var fields: HTTPFields {
        var fields = HTTPFields()
        for header in headers {
            if let name = HTTPField.Name(header.name) { fields[name] = header.value }
        }
        return fields
    }
}
