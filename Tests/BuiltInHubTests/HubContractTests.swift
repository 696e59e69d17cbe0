// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import HubContract
import NotificationHub
import Store
import Synchronization
import Testing

/// The built-in hub without anything between, and through its REST face. Through a real network it is in WireTests.
@Suite struct `What every hub promises` {
    @Test(arguments: Contract.rules) func `the built-in hub keeps`(rule: Contract) throws {
        try rule.run(HubBench().builtIn)
    }

    @Test(arguments: Contract.rules) func `a client of its REST face is kept`(rule: Contract) throws {
        try rule.run(HubBench().client())
        try rule.run(HubBench(isServed: true).client())
    }

    @Test func `the built-in hub is in this process, and that of a client is elsewhere`() throws {
        #expect(HubBench().builtIn.isLocal)
        #expect(try !HubBench().client().isLocal)
    }

    @Test(
        arguments: [
            (.full, .full, 10), (.readOnly, .full, 10), (.busy(retryAfterSeconds: 7), .busy, 7),
            (.poisoned, .unavailable, 10), (.damaged(detail: "file"), .unavailable, 10),
            (.unavailable(detail: "file"), .unavailable, 10), (.notReady(detail: "file"), .unavailable, 10),
        ] as [(StoreError, HubStorageError.Reason, Int)])
    func `of a storage that fails, the hub tells the cause, and both ways say whether it may have acted`(
        error: StoreError, reason: HubStorageError.Reason, seconds: Int
    ) throws {
        let bench = HubBench(store: FailingStore(error: error))
        for call in Self.calls {
            let direct = #expect(throws: HubError.self) { try call(bench.builtIn) }
            #expect(direct == .storage(HubStorageError(reason, retryAfterSeconds: seconds, cause: "\(error)")))
            let remote = #expect(throws: HubError.self) { try call(bench.client()) }
            guard case .unavailable(seconds, _) = remote else {
                Issue.record("\(String(describing: remote))")
                continue
            }
            #expect(direct?.mayHaveActed == remote?.mayHaveActed)
            #expect(direct?.mayHaveActed == (reason == .unavailable))
        }
    }

    @Test func `a write that others keep overtaking is a conflict both ways`() throws {
        let bench = HubBench(store: FailingStore(error: .conflict))
        for hub in [bench.builtIn, try bench.client()] as [any Hub] {
            #expect(throws: HubError.refused(status: 409, code: "40900")) { try Self.calls[0](hub) }
        }
    }

    private static func id() throws -> RegistrationID { try #require(RegistrationID("1-2-3")) }

    private static let calls: [@Sendable (any Hub) throws -> Void] = [
        { _ = try $0.createOrUpdate(RegistrationDescription(id: id(), handle: .apns("AB"))) },
        { _ = try $0.registration(id()) },
        { _ = try $0.delete(id()) }, { _ = try $0.registrations(channel: "AB") },
        { _ = try $0.send(.apns(json: []), to: nil) }, { _ = try $0.details("1") },
    ]
}
