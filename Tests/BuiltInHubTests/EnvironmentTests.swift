// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Support
import Testing

@testable import BuiltInHub

private func rule(_ status: Int) -> PushResult {
    switch status {
    case 400: PushResult(.badChannel, .tryOtherEnvironment)
    case 403: PushResult(.invalidCredentials, .holdCredential(reason: "Revoked"))
    default: PushResult(.pnsUnavailable, .retry(afterSeconds: nil))
    }
}

/// Two environments of one service.
private struct Environments {
    let production: CredentialSender
    let sandbox: CredentialSender
    let bench: DeliveryBench

    init(production: Int, sandbox: Int, apps: [String] = ["app", "app"]) {
        let (first, second) = (CredentialSender(production), CredentialSender(sandbox))
        (self.production, self.sandbox) = (first, second)
        bench = DeliveryBench(channels: { around in
            [
                PushChannel(
                    name: "service", app: apps[0], driver: RuledDriver(.browser, rule), sender: first,
                    now: around.now, clock: around.clock,
                    report: around.report),
                PushChannel(
                    name: "service sandbox", app: apps[1], driver: RuledDriver(.browser, rule), sender: second,
                    now: around.now, clock: around.clock, report: around.report),
            ]
        })
        bench.register(1)
    }
}

@Suite struct `A device of the service's other environment` {
    @Test func `is reached there, and later messages go there at once`() throws {
        let service = Environments(production: 400, sandbox: 201)
        service.bench.start()
        #expect(try service.bench.outcomes(service.bench.send()) == ["Success": 1])
        #expect(service.production.paths == ["/1"] && service.sandbox.paths == ["/1"])
        #expect(try service.bench.outcomes(service.bench.send()) == ["Success": 1])
        #expect(service.production.paths == ["/1"] && service.sandbox.paths == ["/1", "/1"])
        // It moves back when its app does.
        service.production.answer(201)
        service.sandbox.answer(400)
        for _ in 0..<2 { #expect(try service.bench.outcomes(service.bench.send()) == ["Success": 1]) }
        #expect(service.production.requests.count == 3 && service.sandbox.requests.count == 3)
    }

    @Test func `that neither of them knows is tried once in each, and its registration is removed`() throws {
        let service = Environments(production: 400, sandbox: 400)
        service.bench.start()
        #expect(try service.bench.outcomes(service.bench.send()) == ["BadChannel": 1])
        #expect(service.production.requests.count == 1 && service.sandbox.requests.count == 1)
        #expect(!service.bench.isRegistered(1))
    }

    @Test func `stays registered where there is one environment only`() throws {
        let service = Environments(production: 400, sandbox: 201, apps: ["app", "another app"])
        service.bench.start()
        #expect(try service.bench.outcomes(service.bench.send()) == ["BadChannel": 1])
        #expect(service.sandbox.requests.isEmpty)
        #expect(service.bench.isRegistered(1))
    }

    @Test func `waits while the credential for that is held`() throws {
        let service = Environments(production: 400, sandbox: 403)
        service.bench.start()
        let id = service.bench.send()
        try service.bench.wait { service.bench.worker.holds.map(\.channel) == ["service sandbox"] }
        try service.bench.goRound()
        #expect(try service.bench.details(id).endTime == nil)
        service.sandbox.answer(201)
        try service.bench.wait {
            service.bench.pass(60)
            return try service.bench.details(id).endTime != nil
        }
        #expect(try service.bench.outcomes(id) == ["Success": 1])
    }

    @Test func `is found by test sends as well`() throws {
        let service = Environments(production: 400, sandbox: 201)
        for id in 2...3 { service.bench.register(id) }
        #expect(service.bench.testSend() == ["Success", "Success", "Success"])
        #expect(service.bench.testSend() == ["Success", "Success", "Success"])
        #expect(service.production.requests.count == 3 && service.sandbox.requests.count == 6)
        service.sandbox.answer(400)
        #expect(service.bench.testSend() == ["BadChannel", "BadChannel", "BadChannel"])
    }
}
