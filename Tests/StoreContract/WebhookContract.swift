// SPDX-License-Identifier: Apache-2.0
import JSON
package import Store
import Testing
internal import Text

/// What every `WebhookQueue` must do.
package struct WebhookContract {
    private let store: any WebhookQueue

    package init(store: any WebhookQueue) { self.store = store }

    package func run() throws {
        #expect(try store.webhookEvents(except: []) == [])
        let (first, second, third) = (event("e-b", 0), event("e-a", 1), event("e-c", 2))
        try store.putWebhookEvents([])
        try store.putWebhookEvents([first, second])
        try store.putWebhookEvents([third])
        #expect(try store.webhookEvents(except: []) == [first, second, third])
        #expect(try store.webhookEvents(except: ["e-a", "unknown"]) == [first, third])
        // Each is there once, as it was put last.
        var again = second
        again.document = .string("tried once\u{0}\n")
        try store.putWebhookEvents([again])
        #expect(try store.webhookEvents(except: ["e-b", "e-c"]) == [again])
        try store.removeWebhookEvents([])
        try store.removeWebhookEvents(["e-b", "e-c", "unknown"])
        #expect(try store.webhookEvents(except: []) == [again])
        try store.removeWebhookEvents(["e-a"])
        #expect(try store.webhookEvents(except: []) == [])
        try turns()
    }

    private func event(_ id: String, _ seconds: Int64) -> HubMessage {
        HubMessage(id: id, document: .string("new"), createdAt: noon + seconds, expiresAt: nextDay)
    }

    private func turns() throws {
        let turn = try #require(try store.acquireWebhookLease())
        #expect(turn.renew())
        #expect(try store.acquireWebhookLease() == nil)
        turn.release()
        let next = try #require(try store.acquireWebhookLease())
        next.release()
    }
}
