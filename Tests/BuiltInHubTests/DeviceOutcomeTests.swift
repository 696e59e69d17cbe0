// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import HTTP
import NotificationHub
import Push
import Support
import Testing

/// What the operator learns of each device.
struct DeviceOutcomeTests {
    @Test func `the record of a message says what each device got, where they are few, and the wire does not`() throws {
        let bench = DeliveryBench()
        for id in 1...2 { bench.register(id) }
        for id in 10...41 { bench.register(id, tags: "some,many") }
        bench.register(42, tags: "many")
        bench.sender.answer { request in
            .success(Response(status: request.path == "/1" ? .gone : .created))
        }
        bench.start()
        let (few, some, many) = (bench.send(), bench.send("some"), bench.send("many"))
        #expect(try bench.outcomes(few) == ["Success": 1, "ExpiredChannel": 1])
        #expect(try bench.outcomes(some) == ["Success": 32])
        #expect(try bench.outcomes(many) == ["Success": 33])
        // As another process reads it.
        let hub = BuiltInHub(store: bench.store, now: { HubBench.now })
        let devices = try hub.message(few).devices.sorted { $0.registrationID < $1.registrationID }
        #expect(devices.map(\.registrationID) == ["1-1-1", "2-1-1"])
        #expect(devices.map(\.name) == ["ExpiredChannel", "Success"])
        #expect(try hub.message(some).devices.map(\.name) == Array(repeating: "Success", count: 32))
        #expect(try hub.message(many).devices.isEmpty)
        #expect(try bench.details(few).devices.isEmpty)
    }

    @Test func `a device that is tried again is named when that has ended`() throws {
        let bench = DeliveryBench()
        for id in 1...2 { bench.register(id) }
        bench.sender.answer { request in
            .success(Response(status: request.path == "/1" ? .serviceUnavailable : .created))
        }
        bench.start()
        let id = bench.send()
        try bench.wait {
            try bench.hub.builtIn.message(id).devices.map(\.registrationID) == ["2-1-1"] && bench.inFlight(id) == 0
        }
        bench.sender.answer(ScriptedSender.status(201))
        bench.pass(120)
        #expect(try bench.outcomes(id) == ["Success": 2])
        #expect(try bench.hub.builtIn.message(id).devices.map(\.registrationID) == ["2-1-1", "1-1-1"])
    }
}
