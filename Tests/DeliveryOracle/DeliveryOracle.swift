// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import Dispatch
import FileStore
import Glibc
import HTTP
import HTTPTypes
import NotificationHub
import PostgresStore
import Push
import Store

/// Delivers what waits in a store until it is killed, and writes a line `<process> <message> <device>` into a file for
/// each device that was told, before the hub hears of it: the oracle of the `kill -9` test.
///
///     delivery-oracle <folder of the store, or URL> <file of lines> <the time, in seconds since 1970>
@main struct DeliveryOracle {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let now = Int64(arguments[3]) else { exit(64) }
        // A worker whose test has died ends by itself.
        alarm(900)
        let file = open(arguments[2], O_WRONLY | O_APPEND | O_CREAT, 0o600)
        guard file >= 0 else { exit(74) }
        var options = DeliveryWorker.Options()
        (options.poll, options.batch, options.inFlight) = (.milliseconds(5), 8, 32)
        let channel = PushChannel(
            name: "browser", driver: NamingDriver(), sender: WritingSender(file: file), now: { now })
        let worker = DeliveryWorker(
            store: try store(arguments[1]), channels: [channel], options: options, now: { now })
        worker.run()
    }

    /// A lease in a database lasts so long that a busy machine keeps it, and so short that a test can wait for its end.
    private static let lease = Duration.seconds(2)

    private static func store(_ place: String) throws -> any HubStore & HubQueue {
        guard place.hasPrefix("postgresql://") else { return try FileSiteStore.open(path: place) }
        var options = PostgresSiteStore.Options()
        options.leaseDuration = lease
        // A busy machine may not connect in time. A worker that gave up here would leave the test without its successor;
        // `alarm` bounds the tries.
        while true {
            if let store = try? PostgresSiteStore.open(url: place, options: options) { return store }
            usleep(100_000)
        }
    }
}

/// Names message and device in the request.
struct NamingDriver: PushDriver {
    let platform = Platform.browser

    func request(for notification: HubNotification, to device: DeviceHandle) throws(PushRefusal) -> Request {
        guard case .browser(let subscription) = device.value else { throw PushRefusal(.wrongChannel) }
        return Request(
            method: .post, authority: "push.example",
            path: "/" + (subscription.endpoint.split(separator: "/").last ?? ""),
            body: notification.body)
    }

    func result(of response: Response) -> PushResult { PushResult(.success) }
}

/// Tells the device by a line, and the hub a little later.
struct WritingSender: PushSender {
    let file: Int32

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        let line = "\(getpid()) \(String(decoding: request.body, as: UTF8.self)) \(request.path.dropFirst())\n"
        // In one write, so that a kill leaves the whole line or none of it.
        guard write(file, line, line.utf8.count) == line.utf8.count else { exit(74) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(.random(in: 0...3_000))) {
            completion(.success(Response(status: .created)))
        }
    }
}
