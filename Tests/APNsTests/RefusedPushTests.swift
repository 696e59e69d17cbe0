// SPDX-License-Identifier: Apache-2.0
import HTTP
import Push
import Testing

@testable import APNs

@Suite struct `A push that APNs has refused to process` {
    let transports = ScriptedTransports()
    let told = Told()

    private func refuse(_ index: Int) { transports.sent[index].fail(ScriptedTransports.Refused()) }

    /// A sender with three pushes over a connection that APNs trusts, behind a first one.
    private func sender(maximumWaiting: Int = 100) throws -> APNsSender {
        let sender = transports.sender(key: try TestKey().key(), maximumWaiting: maximumWaiting)
        told.push(sender, 0..<1)
        transports.sent[0].answer(200)
        told.push(sender, 1..<4)
        return sender
    }

    @Test func `goes over the next connection, where one goes alone, with the same token`() throws {
        _ = try sender()
        refuse(1)
        refuse(2)
        #expect(told.count == 1 && transports.sent.map(\.transport) == [0, 0, 0, 0, 1])
        transports.sent[4].answer(200)
        #expect(transports.sent.map(\.transport) == [0, 0, 0, 0, 1, 1])
        // The former connection finishes what it has.
        #expect(transports.closed == [])
        transports.sent[3].answer(200)
        transports.sent[5].answer(200)
        #expect(transports.closed == [0] && told.statuses == [200, 200, 200, 200])
        #expect(Set(transports.sent.map(\.token)).count == 1)
    }

    @Test func `is not sent a fourth time`() throws {
        let sender = try sender()
        for index in 2...3 { transports.sent[index].answer(200) }
        refuse(1)
        told.push(sender, 4..<6)
        refuse(4)
        // The two that wait stand before it now.
        transports.sent[5].answer(200)
        #expect(transports.sent[7].request.path == "/3/device/1")
        refuse(7)
        let errors = told.errors.compactMap { $0 as? any TransportFailure }
        #expect(errors.map(\.kind) == ["refused"] && errors.allSatisfy(\.isUnsent))
        #expect(transports.made == 3)
        #expect(transports.sent.count { $0.request.path == "/3/device/1" } == 3)
    }

    @Test func `as the first on each connection fails with all that wait for it`() throws {
        let sender = transports.sender(key: try TestKey().key())
        told.push(sender, 0..<1)
        refuse(0)
        refuse(1)
        // It is under way alone, so these wait for it.
        told.push(sender, 1..<3)
        refuse(2)
        let errors = told.errors.compactMap { $0 as? any TransportFailure }
        #expect(errors.map(\.kind) == ["refused", "refused", "refused"] && errors.allSatisfy(\.isUnsent))
        #expect(transports.made == 3 && transports.sent.count == 3)
    }

    @Test func `is not sent again when it was under way for long, or nothing more may wait`() throws {
        _ = try sender()
        transports.pass(minutes: 1)
        refuse(1)
        #expect(told.errors.count == 1)

        let (others, toldOfOthers) = (ScriptedTransports(), Told())
        let full = others.sender(key: try TestKey().key(), maximumWaiting: 1)
        toldOfOthers.push(full, 0..<1)
        others.sent[0].answer(200)
        for number in 1..<4 { toldOfOthers.push(full, number..<number + 1) }
        for index in 1...3 { others.sent[index].fail(ScriptedTransports.Refused()) }
        // The first is tried out alone, the second waits for it.
        #expect(toldOfOthers.errors.count == 1 && others.sent.count == 5)
    }
}
