// SPDX-License-Identifier: Apache-2.0
package import HTTP
import HTTPTypes
import JSON
package import NotificationHub
package import Push
package import Text

/// The requests that manage an app's broadcast channels and send to them (Live Activities, iOS 18 and later), and what
/// the answers mean. A device subscribes to a channel by the channel's id; one request reaches all that did.
package struct BroadcastChannels: Sendable {
    /// Whether APNs keeps a notification for devices that are away.
    package enum Storage: Int, Sendable {
        /// Nothing is kept; Apple allows more notifications.
        case none = 0
        /// The newest notification, for up to 8 hours.
        case newest = 1
    }

    /// What APNs says of one channel.
    package struct Channel: Equatable, Sendable {
        package let storage: Storage
    }

    /// The longest payload, in bytes.
    package static let maximumPayload = 5120
    /// The longest channel id that is sent, in bytes; Apple promises no length.
    package static let maximumIDLength = 256

    private let bundleID: String
    private let management: Authority
    private let sending: Authority

    /// - Parameters:
    ///   - bundleID: of the app, without a suffix.
    ///   - management: manages channels, as `APNsEnvironment.channelAuthority`.
    ///   - sending: takes broadcasts; Apple names the push hosts for it.
    package init(bundleID: String, management: Authority, sending: Authority) {
        self.bundleID = bundleID
        self.management = management
        self.sending = sending
    }

    /// Answered with `created(_:)`.
    package func create(_ storage: Storage) -> Request {
        let json = JSONWriter.object {
            $0.member("message-storage-policy", storage.rawValue)
            $0.member("push-type", "LiveActivity")
        }
        return managing(.post, "channels", body: json.bytes)
    }

    /// Answered with `ids(_:)`.
    package func list() -> Request { managing(.get, "all-channels") }

    /// Answered with `channel(_:)`.
    /// - Throws: `BadChannelID`.
    package func read(_ id: String) throws(BadChannelID) -> Request {
        managing(.get, "channels", id: try Self.checked(id))
    }

    /// Answered with `deleted(_:)`. Devices that subscribed get nothing any more.
    /// - Throws: `BadChannelID`.
    package func delete(_ id: String) throws(BadChannelID) -> Request {
        managing(.delete, "channels", id: try Self.checked(id))
    }

    /// A notification for all devices of a channel. Its answer means what a push's answer means, as far as no device is
    /// concerned (`result(of:)`).
    /// - Parameter storage: of the channel.
    /// - Throws: `PushRefusal`, with the member or header at fault.
    package func send(
        _ notification: HubNotification, to id: String, storage: Storage
    ) throws(PushRefusal) -> Request {
        do throws(NotificationFault) {
            guard let id = try? Self.checked(id) else { throw .channelID }
            let payload = try APNsPayload(notification.body)
            let options = try APNsOptions(notification.headers, payload: payload, topic: bundleID)
            guard options.type == .liveactivity else { throw .broadcastType }
            guard notification.body.count <= Self.maximumPayload else { throw .tooLarge }
            try payload.check(.liveactivity)
            var fields: HTTPFields = [.contentType: "application/json"]
            options.add(to: &fields)
            // A topic, or an id for later notifications to replace this one, is not part of a broadcast.
            fields[.topic] = nil
            fields[.collapseID] = nil
            fields[.channelID] = id
            if storage == .none {
                guard fields[.expiration] ?? "0" == "0" else { throw .broadcastExpiration }
                fields[.expiration] = "0"
            }
            return Request(
                method: .post, authority: sending.description, path: "/4/broadcasts/apps/" + bundle, fields: fields,
                body: notification.body)
        } catch {
            throw error.refusal
        }
    }

    private func managing(
        _ method: HTTPRequest.Method, _ resource: String, id: String? = nil, body: [UInt8] = []
    ) -> Request {
        var fields: HTTPFields = body.isEmpty ? [:] : [.contentType: "application/json"]
        fields[.channelID] = id
        fields[.requestID] = TrackingID.random()
        return Request(
            method: method, authority: management.description, path: "/1/apps/\(bundle)/\(resource)", fields: fields,
            body: body)
    }

    private var bundle: String { PercentEncoding.encode(bundleID) }

    /// Base64, of any length that fits a header.
    private static func checked(_ id: String) throws(BadChannelID) -> String {
        let isBase64 = id.utf8.allSatisfy { ASCII.isURLSafe($0) || "+/=".utf8.contains($0) }
        guard isBase64, (1...maximumIDLength).contains(id.utf8.count) else { throw BadChannelID() }
        return id
    }
}

/// That a text is no channel's id.
package struct BadChannelID: Error, Equatable, CustomStringConvertible {
    package let description = "a channel id is base64, as APNs gave it out"
}

/// That APNs did not do what was asked.
package struct BroadcastError: Error, Equatable {
    package let status: Int
    /// Apple's word, such as `CannotCreateChannelConfig` for an app with all its channels in use.
    package let reason: String?
}

extension BroadcastChannels {
    /// - Returns: the new channel's id.
    /// - Throws: `BroadcastError`, as all that follow, also for an answer in an unknown form.
    package func created(_ response: Response) throws(BroadcastError) -> String {
        guard response.status.code == 201, let id = response.fields[.channelID], (try? Self.checked(id)) != nil else {
            throw Self.error(response)
        }
        return id
    }

    package func channel(_ response: Response) throws(BroadcastError) -> Channel {
        guard response.status.code == 200, let json = try? JSONValue(parsing: response.body),
            let storage = json["message-storage-policy"]?.integer.flatMap(Storage.init)
        else { throw Self.error(response) }
        return Channel(storage: storage)
    }

    /// - Returns: the ids of all channels of the app.
    package func ids(_ response: Response) throws(BroadcastError) -> [String] {
        guard response.status.code == 200, let json = try? JSONValue(parsing: response.body),
            let channels = json["channels"]?.array
        else { throw Self.error(response) }
        let ids = channels.compactMap(\.string)
        guard ids.count == channels.count else { throw Self.error(response) }
        return ids
    }

    package func deleted(_ response: Response) throws(BroadcastError) {
        guard response.status.code == 204 else { throw Self.error(response) }
    }

    /// What the answer to `send` says of the message and of the credential.
    package func result(of response: Response, now: @escaping @Sendable () -> Int64) -> PushResult {
        APNsAnswers(hasOtherEnvironment: false, hasOtherTopic: false, now: now).broadcastResult(of: response)
    }

    private static func error(_ response: Response) -> BroadcastError {
        BroadcastError(status: response.status.code, reason: APNsAnswers.reason(of: response))
    }
}
