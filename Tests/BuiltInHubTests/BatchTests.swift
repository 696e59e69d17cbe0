// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import HTTP
import HTTPTypes
import NotificationHub
import Push
import Store
import Support
import Testing

/// Batches of direct sends, as each SDK writes them.
@Suite struct `A batch of direct sends` {
    let bench = HubBench(isServed: true)

    private func body(
        _ devices: String, notification: String = #"{"aps":{}}"#, boundary: String = "b-1", line: String = "\r\n"
    ) -> String {
        func part(_ name: String, _ text: String) -> String {
            [
                "--\(boundary)", "Content-Type: application/json; charset=utf-8",
                "Content-Disposition: inline; name=\(name)", "", text,
            ]
            .joined(separator: line) + line
        }
        return part("notification", notification) + part("\"devices\"", devices) + "--\(boundary)--" + line
    }

    private func send(
        _ body: String, type: String = "multipart/mixed; boundary=b-1", format: String = "apple", key: String = "send",
        fields: [String: String] = [:]
    ) -> Response {
        bench.ask(
            .post, "/myhub/messages/$batch", query: "api-version=2020-06&direct", key: key,
            fields: fields.merging(["Content-Type": type, "ServiceBusNotification-Format": format]) { $1 }, body: body)
    }

    @Test(arguments: [
        "multipart/mixed; boundary=\"b-1\"", "multipart/mixed; boundary=b-1", "multipart/mixed; boundary = \"b-1\"",
        "multipart/form-data; boundary=b-1", "Multipart/Related; charset=utf-8; Boundary=b-1",
    ])
    func `is taken in each SDK's form, with one outcome for all`(type: String) throws {
        for line in ["\r\n", "\n"] {
            for devices in [#"["AA","BB","aa"]"#, "['AA', 'BB', 'aa']"] {
                let sent = send(body(devices, line: line), type: type)
                #expect(sent.status == .created && sent.body.isEmpty)
                #expect(sent.fields[.contentType] == "application/xml; charset=utf-8")
                let location = try #require(sent.fields[.location])
                #expect(location.hasPrefix("https://hub.example:8443/myhub/messages/"))
                #expect(location.hasSuffix("?api-version=2020-06&direct"))
                for path in ["messages", "messages/$batch"] {
                    let details = bench.ask(.get, "/myhub/\(path)/\(sent.createdID)", key: "send")
                    let outcomes = try NotificationDetails(decoding: details.body).outcomes
                    #expect(outcomes.map(\.counts) == [[.init("Skipped", 2)]])
                }
            }
        }
    }

    @Test(
        arguments: [
            (#"["AA"]"#, "text/plain", "apple", [:], "Could not find a part"),
            (#"["AA"]"#, "multipart/mixed", "apple", [:], "Could not find a part"),
            (#"["AA"]"#, "multipart/mixed; boundary=other", "apple", [:], "Could not find a part"),
            ("[]", "multipart/mixed; boundary=b-1", "apple", [:], "The devices must be"),
            ("{}", "multipart/mixed; boundary=b-1", "apple", [:], "The devices must be"),
            (#"["AA","xyz"]"#, "multipart/mixed; boundary=b-1", "apple", [:], "Device 2 is invalid"),
            (#"["AA",7]"#, "multipart/mixed; boundary=b-1", "apple", [:], "Device 2 is invalid"),
            (#"["AA"]"#, "multipart/mixed; boundary=b-1", "template", [:], "A direct send needs"),
            (#"["AA"]"#, "multipart/mixed; boundary=b-1", "none", [:], "The ServiceBusNotification-Format"),
            (
                #"["AA"]"#, "multipart/mixed; boundary=b-1", "apple", ["ServiceBusNotification-Tags": "a"],
                "A direct send has device handles"
            ),
        ] as [(String, String, String, [String: String], String)])
    func `that is wrong is refused`(
        devices: String, type: String, format: String, fields: [String: String], sentence: String
    ) throws {
        let refused = send(body(devices), type: type, format: format, fields: fields)
        #expect(refused.status == .badRequest)
        #expect(try ErrorDocument(decoding: refused.body).detail.hasPrefix(sentence), "\(refused.text)")
    }

    @Test func `has at most 1,000 devices, 256 KiB, and a notification of 64 KiB, and needs Send`() {
        func devices(_ count: Int) -> String {
            "[" + (1...count).map { "\"\(String(repeating: "A", count: 60))\(1_000 + $0)\"" }.joined(separator: ",")
                + "]"
        }
        #expect(send(body(devices(1_000))).status == .created)
        #expect(send(body(devices(1_001))).status == .badRequest)
        #expect(send(body(#"["AA"]"#, notification: String(repeating: "x", count: 65_537))).status == .contentTooLarge)
        #expect(send(String(repeating: "x", count: 262_145)).status == .contentTooLarge)
        #expect(send(body(#"["AA"]"#), key: "listen").status == .unauthorized)
    }

    @Test func `without its end, or with a part that has no name or comes twice, is refused`() {
        let whole = body(#"["AA"]"#)
        let end = "--b-1--\r\n"
        for wrong in [
            "", String(whole.dropLast(end.utf8.count)), whole.replacing("name=notification", with: "x=notification"),
            whole.replacing("name=notification", with: "name=devices"), whole.replacing("\r\n\r\n", with: "\r\n"), end,
            whole.replacing("Content-Type: ", with: "nothing"),
        ] {
            #expect(send(wrong).status == .badRequest)
        }
    }
}

@Suite struct `The delivery of a batch` {
    private static let devices = (1...150).map { String($0, radix: 16) }.map {
        String(repeating: "0", count: 4 - $0.count) + $0
    }

    private func bench(_ store: any HubStore & HubQueue = MemoryHubStore(), _ sender: CredentialSender) -> DeliveryBench
    {
        DeliveryBench(store: store, { ($0.batch, $0.inFlightPerService) = (8, 8) }) { around in
            let driver = RuledDriver(.apns) { _ in PushResult(.pnsUnavailable, .retry(afterSeconds: nil)) }
            return [PushChannel(name: "apns", driver: driver, sender: sender, now: around.now, report: around.report)]
        }
    }

    private func send(_ hub: HubBench) throws -> String {
        let handles = try Self.devices.map { try DeviceHandle.apns($0) }
        let receipt = try hub.builtIn.served.send(.apns(json: Array("{}".utf8)), to: .devices(handles))
        return try #require(receipt.notificationID)
    }

    @Test func `reaches each device once, also when another process goes on with it`() throws {
        let sender = CredentialSender(201)
        let before = bench(MemoryHubStore(), sender)
        let hub = HubBench(store: before.store, worker: before.worker, isServed: true)
        let id = try send(hub)
        sender.answer(503)
        before.start()
        try before.wait { !sender.requests.isEmpty }
        before.stop()
        let other = CredentialSender(201)
        let after = bench(before.store, other)
        after.start()
        try after.wait { try hub.details(id).endTime != nil }
        #expect(try hub.details(id).outcomes.map { $0.counts.map(\.count).reduce(0, +) } == [Self.devices.count])
        #expect(Set(other.paths).count == other.paths.count)
    }
}
