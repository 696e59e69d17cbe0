// SPDX-License-Identifier: Apache-2.0
import AppBackend
import BuiltInHub
import DeviceAPI
import FileStore
import Foundation
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Store
import Testing
import Text

/// One user against the others: what is for all users together stays open for all.
struct HostileUserTests {
    /// A site whose built-in hub delivers nothing, and has a queue of so many bytes.
    private func site(queueBytes: Int) throws -> TestSite {
        let folder = FileManager.default.temporaryDirectory.appending(path: "queue-\(UUID().uuidString)")
        var options = FileSiteStore.Options()
        options.quotas.queueBytes = queueBytes
        options.calls = DiskCalls(flushFile: { _ in 0 }, flushFolder: { _ in 0 })
        let store = try FileSiteStore.open(path: folder.path, options: options)
        let removal = Removal(folder)
        return try TestSite(users: ["alice", "bob", "mallory"], platforms: [.apns]) { parts in
            let now = parts.now
            let channel = PushChannel(name: "apns", driver: SilentDriver(), sender: removal, now: { now().seconds })
            let worker = DeliveryWorker(store: store, channels: [channel], now: { now().seconds })
            parts.notifications = Notifications(
                hub: BuiltInHub(store: store, worker: worker, now: { now().seconds }), platforms: [.apns])
        }
    }

    @Test func `a user who fills the delivery queue is refused, and the others' messages are taken`() throws {
        let site = try site(queueBytes: 100_000)
        _ = try site.register("alice")
        _ = try site.register("mallory", handle: TestSite.token(2))
        let text = String(repeating: "x", count: 2_000)
        func flood(_ number: Int) -> HTTPResponse.Status {
            site.send(PushMessage(to: .several(["mallory", "no\(number)"]), body: text), as: "mallory").status
        }
        let taken = (0..<100).prefix { flood($0) == .ok }.count
        #expect((5..<20).contains(taken))
        #expect(flood(100) == .tooManyRequests)
        for _ in 0..<3 { #expect(site.send(PushMessage(to: "alice", body: text)).status == .ok) }
        #expect(flood(101) == .tooManyRequests)
    }

    @Test func `users who keep as much for later as they may leave room for each of the others`() throws {
        let site = try TestSite(users: ["alice", "bob"])
        let sendAt = site.time(60)
        // What 40 users could have there, as their own calls would have put it in.
        var refused: [StoreError] = []
        for user in 0..<40 {
            for number in 0..<8 {
                let id = "m-\(user)-\(number)"
                let entry = HubMessage(
                    id: id, owner: "user-\(user)", document: .string(String(repeating: "x", count: 32_000)),
                    createdAt: Timestamp(seconds: site.clock.seconds),
                    expiresAt: Timestamp(seconds: site.clock.seconds) + 86_400)
                do throws(StoreError) {
                    try site.store.putWaiting([entry], in: .sends)
                } catch {
                    refused.append(error)
                }
            }
        }
        #expect(refused.count > 200 && refused.allSatisfy { $0 != .quotaExceeded })
        let message = PushMessage(to: "alice", body: "Later", sendAt: sendAt)
        let sent = try SendOutcome(site.send(message))
        let id = try #require(sent.messageID)
        #expect(site.call(.delete, "\(Path.scheduled)/\(id)", as: "alice").status == .notFound)
        #expect(site.call(.delete, "\(Path.scheduled)/\(id)", as: "bob").status == .ok)
        // Bob's own share.
        let long = PushMessage(to: "alice", body: String(repeating: "x", count: 3_000), sendAt: sendAt)
        let answers = (0..<8).map { _ in site.send(long) }
        #expect(answers.first?.status == .ok)
        let problem = Problem(try #require(answers.last))
        #expect(problem.code == .tooManyScheduled && problem.field == "SendAt")
    }
}

/// Takes nothing, and removes the queue's folder when the site is gone.
private final class Removal: PushSender {
    private let folder: URL

    init(_ folder: URL) { self.folder = folder }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {}
}

private struct SilentDriver: PushDriver {
    let platform = Platform.apns

    func request(for notification: HubNotification, to device: DeviceHandle) -> Request {
        Request(method: .post, authority: "silent.example", path: "/")
    }

    func result(of response: Response) -> PushResult { PushResult(.success) }
}
