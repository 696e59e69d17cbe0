// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Testing

import class System.Lock

@testable import WebPush

private let noon: Int64 = 1_800_000_000

/// A push service that takes messages for one key alone, and answers others as its vendor does.
private final class StrictService: PushSender {
    let key: String
    let refusal: Int
    private let asked = Lock<[Request]>([])

    init(takes key: VAPIDKey, else refusal: Int) {
        self.key = key.publicKey
        self.refusal = refusal
    }

    /// The public keys of the requests that came since the last time, in their order.
    func takeKeys() -> [String] {
        asked.withLock { asked in
            defer { asked = [] }
            return asked.map { $0.fields[.authorization]?.split(separator: "k=").last.map(String.init) ?? "" }
        }
    }

    var bodies: Set<[UInt8]> { asked.withLock { Set($0.map(\.body)) } }

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        asked.withLock { $0.append(request) }
        let isOwn = request.fields[.authorization]?.hasSuffix("k=" + key) == true
        completion(.success(Response(status: .init(code: isOwn ? 201 : refusal))))
    }
}

@Suite struct `A subscription for a former key` {
    private let keys = [VAPIDKey(), VAPIDKey(), VAPIDKey()]

    private func driver() throws -> WebPushDriver {
        WebPushDriver(
            key: keys[0], formerKeys: Array(keys.dropFirst()), subject: try VAPIDSubject("mailto:push@example.com"),
            hosts: try PushHosts(), now: { noon })
    }

    private func push(_ driver: WebPushDriver, _ sender: any PushSender, to handle: DeviceHandle) throws -> Int? {
        let status = Lock<Int?>(nil)
        sender.send(try driver.request(for: .browser(json: Array("{}".utf8)), to: handle)) { result in
            status.withLock { $0 = (try? result.get())?.status.code }
        }
        return status.withLock(\.self)
    }

    @Test(arguments: [400, 401, 403])
    func `is reached by that key, and at once the next time`(refusal: Int) throws {
        let driver = try driver()
        let service = StrictService(takes: keys[2], else: refusal)
        let count = Lock(0)
        let sender = driver.reachingFormerKeys(service) { count.withLock { $0 += 1 } }
        let handle = try Browser().handle()
        #expect(try push(driver, sender, to: handle) == 201)
        #expect(service.bodies.count == 1)
        #expect(service.takeKeys() == keys.map(\.publicKey))
        #expect(try push(driver, sender, to: handle) == 201)
        #expect(service.takeKeys() == [keys[2].publicKey])
        // Another subscription is another matter.
        #expect(try push(driver, sender, to: Browser().handle("https://fcm.googleapis.com/other")) == 201)
        #expect(service.takeKeys().first == keys[0].publicKey)
        #expect(count.withLock(\.self) == 3)
    }

    @Test func `one for the current key costs no more than before`() throws {
        let driver = try driver()
        let service = StrictService(takes: keys[0], else: 403)
        let sender = driver.reachingFormerKeys(service) { Issue.record("no former key was needed") }
        #expect(try push(driver, sender, to: Browser().handle()) == 201)
        #expect(service.takeKeys() == [keys[0].publicKey])
    }

    @Test func `one that no key fits is refused after each was tried once`() throws {
        let driver = try driver()
        let service = StrictService(takes: VAPIDKey(), else: 403)
        let sender = driver.reachingFormerKeys(service) { Issue.record("nothing was taken") }
        #expect(try push(driver, sender, to: Browser().handle()) == 403)
        #expect(service.takeKeys() == keys.map(\.publicKey))
    }

    @Test(arguments: [404, 410, 413, 429, 500, 503])
    func `no other refusal is answered with another key`(status: Int) throws {
        let driver = try driver()
        let service = StrictService(takes: VAPIDKey(), else: status)
        let sender = driver.reachingFormerKeys(service)
        #expect(try push(driver, sender, to: Browser().handle()) == status)
        #expect(service.takeKeys().count == 1)
    }
}
