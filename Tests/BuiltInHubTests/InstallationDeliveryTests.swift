// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Support
import Testing

/// What is delivered to the registrations of installations.
@Suite struct `What is delivered to an installation` {
    static let publicKey = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"

    private func put(_ id: Int, _ hub: HubBench) {
        let channel =
            #"{"endpoint":"https://push.example/\#(id)","p256dh":"\#(Self.publicKey)","auth":"\#(Self.auth)"}"#
        let body =
            #"{"platform":"browser","pushChannel":\#(channel),"userId":"u\#(id)","tags":["all"],"#
            + #""templates":{"t":{"body":"{\"say\":\"$(m)\"}"}}}"#
        #expect(hub.ask(.put, "/myhub/installations/i\(id)", key: "listen", body: body).status == .ok)
    }

    private static let auth = "AAAAAAAAAAAAAAAAAAAAAA"

    @Test func `is one message for its channel, and one for each template, with what the template makes`() throws {
        let bench = DeliveryBench()
        let served = HubBench(store: bench.store, worker: bench.worker, isServed: true)
        for id in 1...3 { put(id, served) }
        bench.start()
        func send(_ format: String, _ tags: String?, _ body: String) throws -> [String] {
            let before = bench.sender.requests.count
            let sent = served.send(format, tags: tags, key: "send", body: body)
            try bench.wait { try served.details(sent.createdID).endTime != nil }
            return bench.sender.requests.dropFirst(before).map {
                "\($0.path) \(String(decoding: $0.body, as: UTF8.self))"
            }
            .sorted()
        }
        #expect(try send("browser", "$InstallationId:{i2}", "{}") == ["/2 {}"])
        #expect(try send("template", "$UserId:{U3}", #"{"m":"hi"}"#) == [#"/3 {"say":"hi"}"#])
        #expect(
            try send("template", "all && t && !$UserId:{u1}", #"{"m":"a"}"#) == [
                #"/2 {"say":"a"}"#, #"/3 {"say":"a"}"#,
            ])
        #expect(try send("browser", nil, "{}") == ["/1 {}", "/2 {}", "/3 {}"])
    }

    @Test func `goes to it no more when its channel is gone`() throws {
        let bench = DeliveryBench(sender: ScriptedSender(ScriptedSender.status(410)))
        let served = HubBench(store: bench.store, worker: bench.worker, isServed: true)
        put(1, served)
        bench.start()
        served.send("browser", tags: "all", key: "send")
        try bench.wait { served.ask(.get, "/myhub/installations/i1").status == .notFound }
        #expect(try served.ask(.get, "/myhub/registrations").ids() == [])
    }
}
