// SPDX-License-Identifier: Apache-2.0
package import HTTP
import HTTPTypes
package import NotificationHub
package import Push
package import Text

/// Pushes to Apple's devices through one of APNs' environments, for the apps of one topic.
///
/// Its requests lack the provider token, which `APNsSender` adds.
package struct APNsDriver: PushDriver {
    private let topic: String
    private let authority: Authority
    private let answers: APNsAnswers

    /// - Parameters:
    ///   - topic: the app's bundle id, or the UID of a device management certificate.
    ///   - authority: of the environment, or of a stand-in for it.
    ///   - hasOtherEnvironment: whether devices may also be tried in the other environment.
    ///   - hasOtherTopic: whether the hub has another topic to which a device that is not of this one may belong.
    ///   - now: seconds since 1970.
    package init(
        topic: String, authority: Authority, hasOtherEnvironment: Bool = false, hasOtherTopic: Bool = false,
        now: @escaping @Sendable () -> Int64
    ) {
        self.topic = topic
        self.authority = authority
        answers = APNsAnswers(hasOtherEnvironment: hasOtherEnvironment, hasOtherTopic: hasOtherTopic, now: now)
    }

    package var platform: Platform { .apns }

    /// - Throws: `invalidNotificationFormat` and `invalidNotificationSize` with the member or header at fault;
    ///   `wrongChannel` for a handle of another platform.
    package func request(
        for notification: HubNotification, to device: DeviceHandle
    ) throws(PushRefusal) -> Request {
        do throws(NotificationFault) {
            guard case .apns(let token) = device.value else { throw .handle }
            let payload = try APNsPayload(notification.body)
            let options = try APNsOptions(notification.headers, payload: payload, topic: topic)
            guard notification.body.count <= options.type.maximumPayload else { throw .tooLarge }
            try payload.check(options.type)
            var fields: HTTPFields = [.contentType: "application/json"]
            options.add(to: &fields)
            return Request(
                method: .post, authority: authority.description, path: "/3/device/" + token.lowercased(),
                fields: fields, body: notification.body)
        } catch {
            throw error.refusal
        }
    }

    package func result(of response: Response) -> PushResult { answers.result(of: response) }
}
