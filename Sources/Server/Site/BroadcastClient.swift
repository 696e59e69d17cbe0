// SPDX-License-Identifier: Apache-2.0
import APNs
import Curl
import HTTP
package import NotificationHub
package import Push
import System
import Text

/// Asks APNs about the broadcast channels of one app of the configuration, and sends to them: for a command, which waits.
package struct BroadcastClient {
    /// Why it was not done, as a sentence for the operator.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The largest answer that is read, in bytes: a list of channels.
    private static let maximumResponseBytes = 4 << 20
    /// Longer than any request of the transport's may take.
    private static let patience = Duration.seconds(180)

    private let channels: BroadcastChannels
    private let sender: APNsSender

    /// - Parameter management: takes the place of Apple's host for channels; nil: Apple's.
    /// - Throws: `Failure`, where an address of the configuration cannot be called.
    package init(_ app: SiteConfiguration.APNsApp, management: ServiceURL?) throws(Failure) {
        guard let management = management?.authority ?? Authority(app.environment.channelAuthority),
            let sending = app.calls.endpoint?.authority ?? Authority(app.environment.authority)
        else { throw Failure(description: "the address of APNs cannot be called") }
        channels = BroadcastChannels(bundleID: app.topic, management: management, sending: sending)
        var options = CurlOptions(
            timeout: .seconds(app.calls.timeout), caFile: app.calls.caFile, userAgent: "app-backend/\(Version.text)",
            maximumResponseBytes: Self.maximumResponseBytes)
        var key: APNsKey?
        switch app.credential {
        case .key(let known): key = known
        case .certificate(let certificate): options.clientCertificate = certificate
        }
        sender = APNsSender(key: key, now: { Site.now().seconds }) { [options] in
            let transport = try CurlTransport(options)
            return APNsTransport(transport) { transport.close() }
        }
    }

    /// Ends the connection.
    package func close() { sender.close() }

    /// - Parameter keepsNewest: whether APNs keeps the newest notification for devices that are away.
    /// - Returns: the new channel's id.
    /// - Throws: `Failure`, as all that follow.
    package func create(keepsNewest: Bool) throws(Failure) -> String {
        let response = try ask(channels.create(keepsNewest ? .newest : .none))
        return try reading { () throws(BroadcastError) in try channels.created(response) }
    }

    /// - Returns: the ids of all channels of the app.
    package func list() throws(Failure) -> [String] {
        let response = try ask(channels.list())
        return try reading { () throws(BroadcastError) in try channels.ids(response) }
    }

    /// Devices that subscribed to the channel get nothing any more.
    package func delete(_ id: String) throws(Failure) {
        let response = try ask(named { () throws(BadChannelID) in try channels.delete(id) })
        try reading { () throws(BroadcastError) in try channels.deleted(response) }
    }

    /// Sends to all devices of a channel.
    /// - Parameters:
    ///   - json: a Live Activity's payload.
    ///   - headers: `apns-priority`, `apns-expiration`.
    package func send(_ json: [UInt8], headers: [PushHeader], to id: String) throws(Failure) {
        let found = try ask(named { () throws(BadChannelID) in try channels.read(id) })
        let channel = try reading { () throws(BroadcastError) in try channels.channel(found) }
        let request: Request
        do throws(PushRefusal) {
            request = try channels.send(.apns(json: json, headers: headers), to: id, storage: channel.storage)
        } catch {
            throw Failure(description: error.reason ?? error.outcome.rawValue)
        }
        let result = channels.result(of: try ask(request), now: { Site.now().seconds })
        guard result.outcome == .success else {
            throw Failure(description: "APNs did not take it: \(result.reason ?? result.outcome.rawValue)")
        }
    }

    private func ask(_ request: Request) throws(Failure) -> Response {
        // The transport ends each request within its own deadline, which is earlier.
        switch Together.ask([request], waiting: Self.patience, { sender.send($0, $1) })[0] {
        case .success(let response)?: return response
        case .failure(let error as TransportError)?: throw Failure(description: "APNs does not answer: \(error)")
        case .failure?, nil: throw Failure(description: "APNs cannot be asked")
        }
    }

    private func named(_ body: () throws(BadChannelID) -> Request) throws(Failure) -> Request {
        do throws(BadChannelID) {
            return try body()
        } catch {
            throw Failure(description: error.description)
        }
    }

    private func reading<Value>(_ body: () throws(BroadcastError) -> Value) throws(Failure) -> Value {
        do throws(BroadcastError) {
            return try body()
        } catch {
            let reason = error.reason.map { ", \($0)" } ?? ""
            throw Failure(description: "APNs did not do it: it answers \(error.status)\(reason)")
        }
    }
}
