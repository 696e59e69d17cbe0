// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Testing

@Suite struct ClientTests {
    static let id = "7260336227650468927-4200236381151834034-1"

    static func client(_ hub: ScriptedHub, clock: Clock = Clock(1000)) throws -> HubClient {
        // However slow the machine is, no call takes any time.
        let beginning = ContinuousClock.now
        return HubClient(
            connection: try ConnectionString(Sample.connection), hub: "MyHub", transport: hub, now: { clock.now() },
            clock: { beginning }, makeTrackingID: { "tracking-1" })
    }

    static func answer(_ status: Int, _ body: [UInt8] = [], _ fields: HTTPFields = [:]) -> Response {
        Response(status: HTTPResponse.Status(code: status), fields: fields, body: body)
    }

    static func registration(_ token: String = "AB01", id: String = id) throws -> RegistrationDescription {
        RegistrationDescription(
            id: RegistrationID(id), etag: "1", expirationTime: "9999-12-31T23:59:59.999Z", tags: [try Tag("tag1")],
            handle: try .apns(token))
    }

    static func entry(_ registration: RegistrationDescription) -> [UInt8] {
        AtomEntry(link: "https://x/", updated: "2018-11-07T00:18:29Z", registration: registration).encode()
    }

    static func feed(_ registrations: [RegistrationDescription], next: String? = nil) -> Response {
        var fields = HTTPFields()
        fields[.continuationToken] = next
        let entries = registrations.map { AtomEntry(link: "", updated: "", registration: $0) }
        return answer(200, AtomFeed(link: "", updated: "", entries: entries).encode(), fields)
    }

    @Test func `a new id is read from the location, whatever its spelling`() throws {
        for location in [
            "https://ns.example/MyHub/registrationids/\(Self.id)?api-version=2020-06",
            "https://ns.example/MyHub/registrationids/\(Self.id)",
            "https://ns.example/myhub/registrationIDs/\(Self.id)/",
        ] {
            let hub = ScriptedHub([Self.answer(201, [], [.location: location])])
            #expect(try Self.client(hub).createRegistrationID().description == Self.id)
            let request = try #require(hub.requests.first)
            #expect(request.method == .post)
            #expect(request.scheme == "https")
            #expect(request.authority == Sample.host)
            #expect(request.target == "/MyHub/registrationids?api-version=2020-06")
            #expect(request.body.isEmpty)
        }
        for fields: HTTPFields in [[:], [.location: "https://x/y/a%2Fb"], [.location: ""]] {
            let hub = ScriptedHub([Self.answer(201, [], fields)])
            #expect(throws: HubError.malformedAnswer("Location with a registration id expected")) {
                try Self.client(hub).createRegistrationID()
            }
        }
    }

    @Test func `every request is signed for the hub, versioned and named`() throws {
        let hub = ScriptedHub([Self.answer(200), Self.answer(200)])
        let client = try Self.client(hub)
        let id = try #require(RegistrationID("1-2-3"))
        #expect(try client.delete(id))
        #expect(try client.tracking("request-7").delete(id))
        let verifier = SharedAccessSignature.Verifier(keys: [Sample.accessKey], hosts: [Sample.host])
        for (request, name) in zip(hub.requests, ["tracking-1", "request-7"]) {
            let header = request.fields[.authorization]
            #expect(try verifier.verify(header: header, path: request.path, now: 1000).rights == .full)
            #expect(throws: SignatureError.otherPath) { try verifier.verify(header: header, path: "/other", now: 1000) }
            #expect(request.fields[.apiVersion] == "2020-06")
            #expect(request.fields[.trackingID] == name)
            #expect(request.id == name)
            #expect(request.method == .delete)
            #expect(request.target == "/MyHub/registrations/1-2-3?api-version=2020-06")
            #expect(request.fields[.ifMatch] == "*")
        }
    }

    @Test func `a token serves until ten minutes before its end, and copies of a client share it`() throws {
        let hub = ScriptedHub(Array(repeating: Self.answer(200), count: 4))
        let clock = Clock(1000)
        let client = try Self.client(hub, clock: clock)
        let id = try #require(RegistrationID("1"))
        for seconds: Int64 in [2999, 1, -2000, 0] {
            _ = try client.tracking("t").delete(id)
            clock.advance(by: seconds)
        }
        let ends = hub.requests.map { request in
            (request.fields[.authorization] ?? "").split(separator: "&").first { $0.hasPrefix("se=") }
        }
        // At 1000, at 3999, at 4000, and at 2000, where the clock went back to.
        #expect(ends == ["se=4600", "se=4600", "se=7600", "se=5600"])
    }

    @Test func `a registration is put without what is the hub's, and read from the answer`() throws {
        for status in [200, 201] {
            var stored = try Self.registration()
            stored.etag = "2"
            let hub = ScriptedHub([Self.answer(status, Self.entry(stored))])
            #expect(try Self.client(hub).createOrUpdate(Self.registration()) == stored)
            let request = try #require(hub.requests.first)
            #expect(request.method == .put)
            #expect(request.target == "/MyHub/registrations/\(Self.id)?api-version=2020-06")
            #expect(request.fields[.contentType] == "application/atom+xml;type=entry;charset=utf-8")
            #expect(request.fields[.ifMatch] == nil)
            #expect(try AtomEntry.decodeRequest(request.body).id == nil)
        }
    }

    @Test func `a registration without an id is not sent, and an answer about another is not believed`() throws {
        var nameless = try Self.registration()
        nameless.id = nil
        let silent = ScriptedHub([])
        #expect(throws: HubError.refused(status: 400, code: "missingRegistrationID")) {
            try Self.client(silent).createOrUpdate(nameless)
        }
        #expect(silent.requests.isEmpty)
        let hub = ScriptedHub([Self.answer(200, Self.entry(try Self.registration(id: "other")))])
        #expect(throws: HubError.malformedAnswer("the same registration id expected")) {
            try Self.client(hub).createOrUpdate(Self.registration())
        }
    }

    @Test func `what is not there is no error for those who look for it`() throws {
        let id = try #require(RegistrationID("1"))
        #expect(try Self.client(ScriptedHub([Self.answer(404)])).registration(id) == nil)
        #expect(try !Self.client(ScriptedHub([Self.answer(404)])).delete(id))
        #expect(try !Self.client(ScriptedHub([Self.answer(410)])).delete(id))
        #expect(try Self.client(ScriptedHub([Self.answer(404)])).registrations(channel: "AB").isEmpty)
        #expect(try Self.client(ScriptedHub([Self.feed([])])).registrations(channel: "AB").isEmpty)
        #expect(try Self.client(ScriptedHub([Self.answer(404)])).registrations(tag: Tag("a")).isEmpty)
        #expect(try Self.client(ScriptedHub([Self.answer(404)])).details("x") == nil)
        let stored = try Self.registration()
        #expect(try Self.client(ScriptedHub([Self.answer(200, Self.entry(stored))])).registration(id) == stored)
    }

    @Test func `a list is asked for by handle or tag and followed to its last page`() throws {
        let devices = try ["A1", "A2", "A3"].map { try Self.registration($0, id: $0) }
        let hub = ScriptedHub([Self.feed([devices[0], devices[1]], next: "MzEobik7Mg%3D%3D"), Self.feed([devices[2]])])
        #expect(try Self.client(hub).registrations(channel: "https://some.url/?a='b", top: 2) == devices)
        let filter = "$filter=ChannelUri+eq+%27https%3a%2f%2fsome.url%2f%3fa%3d%27%27b%27"
        #expect(
            hub.requests.map(\.target) == [
                "/MyHub/registrations?api-version=2020-06&\(filter)&$top=2",
                "/MyHub/registrations?api-version=2020-06&\(filter)&$top=2&continuationtoken=MzEobik7Mg%3D%3D",
            ])
        #expect(try Query(hub.requests[0].query)["$filter"] == "ChannelUri eq 'https://some.url/?a=''b'")
        let tagged = ScriptedHub([Self.feed(devices)])
        #expect(try Self.client(tagged).registrations(tag: Tag("größe#1"), top: 0) == devices)
        #expect(
            tagged.requests.map(\.target)
                == ["/MyHub/tags/gr%C3%B6%C3%9Fe%231/registrations?api-version=2020-06&$top=1"])
    }

    @Test func `a list without end, in a circle or with a forged continuation is given up`() throws {
        let endless = ScriptedHub((0...200).map { Self.feed([], next: "t\($0)") })
        #expect(throws: HubError.malformedAnswer("at most 100 pages expected")) {
            try Self.client(endless).registrations(channel: "AB")
        }
        #expect(endless.requests.count == HubClient.maximumPages)
        let circle = ScriptedHub([Self.feed([], next: "t"), Self.feed([], next: "t"), Self.feed([])])
        #expect(throws: HubError.self) { try Self.client(circle).registrations(channel: "AB") }
        #expect(circle.requests.count == 2)
        let forged = ScriptedHub([Self.feed([], next: "t&$top=1"), Self.feed([])])
        #expect(throws: HubError.self) { try Self.client(forged).registrations(channel: "AB") }
        #expect(forged.requests.count == 1)
    }

    static let statuses: [(status: Int, retryAfter: String?, body: String, error: HubError)] = [
        (
            400, nil, "<Error><Code>400</Code><Detail>bad tag 'secret'.</Detail></Error>",
            .refused(status: 400, code: "400")
        ),
        (401, nil, "", .unauthorized), (403, nil, "", .unauthorized),
        (403, "7", "", .throttled(retryAfterSeconds: 7)), (404, nil, "", .notFound),
        (
            409, nil, "<Error><Code>409</Code><Detail>secret SubCode=40900. Conflict.</Detail></Error>",
            .refused(status: 409, code: "40900")
        ),
        (410, nil, "", .registrationGone), (412, nil, "no XML", .refused(status: 412, code: "")),
        (413, nil, "", .payloadTooLarge), (429, "30", "", .throttled(retryAfterSeconds: 30)),
        (429, nil, "", .throttled(retryAfterSeconds: 10)), (429, "0", "", .throttled(retryAfterSeconds: 1)),
        (429, "-5", "", .throttled(retryAfterSeconds: 1)), (429, "999999", "", .throttled(retryAfterSeconds: 3600)),
        (429, "99999999999999999999", "", .throttled(retryAfterSeconds: 10)),
        (503, "Wed, 21 Oct 2026 07:28:00 GMT", "", .unavailable(retryAfterSeconds: 10)),
        (503, "7", "<html>", .unavailable(retryAfterSeconds: 7)),
        (
            503, nil, "<Error><Code>503</Code><Detail>secret SubCode=50004. Busy.</Detail></Error>",
            .unavailable(retryAfterSeconds: 10, code: "50004")
        ),
        (500, nil, "<html>", .refused(status: 500, code: "")), (302, nil, "", .refused(status: 302, code: "")),
        (
            400, nil, "<Error><Code>4\n0&lt;0 \(String(repeating: "x", count: 99))</Code></Error>",
            .refused(status: 400, code: "400" + String(repeating: "x", count: 29))
        ),
    ]

    @Test(arguments: statuses.indices)
    func `a status that is no success says what to do, in the hub's code only`(_ row: Int) throws {
        let (status, retryAfter, body, error) = Self.statuses[row]
        var fields = HTTPFields()
        fields[.retryAfter] = retryAfter
        let hub = ScriptedHub([Self.answer(status, [UInt8](body.utf8), fields), Self.answer(200)])
        #expect(throws: error) { try Self.client(hub).createOrUpdate(Self.registration()) }
        #expect(hub.requests.count == 1)
        #expect(!"\(error)".contains("secret"))
    }

    @Test func `a repeatable call is repeated once when the connection was refused`() throws {
        let id = try #require(RegistrationID("1"))
        let hub = ScriptedHub([nil, Self.answer(200)])
        #expect(try Self.client(hub).delete(id))
        #expect(hub.requests.count == 2)
        let gone = ScriptedHub([nil, nil, Self.answer(200)])
        #expect(throws: HubError.unreachable("NoConnection()")) { try Self.client(gone).delete(id) }
        #expect(gone.requests.count == 2)
    }

    @Test func `what came late or cannot pass is not asked twice`() throws {
        struct Hopeless: TransportFailure {
            let isTransient: Bool
            let isUnsent = false
            let isPermanent = false
        }
        let id = try #require(RegistrationID("1"))
        let beginning = ContinuousClock.now
        for (seconds, failure, count) in [
            (2, ScriptedHub.NoConnection(), 2), (3, ScriptedHub.NoConnection(), 1),
            (0, Hopeless(isTransient: true), 2), (0, Hopeless(isTransient: false), 1),
        ] as [(Int64, any Error, Int)] {
            let hub = ScriptedHub([nil, nil], failure: failure)
            let looks = Clock(0, step: seconds)
            // The wall clock, which can be set, does not matter.
            let wall = Clock(1000, step: 1000)
            let client = HubClient(
                connection: try ConnectionString(Sample.connection), hub: "MyHub", transport: hub,
                now: { wall.now() }, clock: { beginning + .seconds(looks.now()) })
            #expect(throws: HubError.self) { try client.delete(id) }
            #expect(hub.requests.count == count)
        }
    }

    @Test func `an answer that is not the hub's language is said to be so`() throws {
        let id = try #require(RegistrationID("1"))
        let page = Self.answer(200, [UInt8]("<html>secret".utf8))
        for call: (HubClient) throws -> Void in [
            { _ = try $0.registration(id) }, { _ = try $0.registrations(channel: "AB") }, { _ = try $0.details("x") },
            { _ = try $0.createOrUpdate(Self.registration()) },
        ] {
            do {
                try call(try Self.client(ScriptedHub([page])))
                Issue.record("an answer in HTML was taken")
            } catch let error as HubError {
                guard case .malformedAnswer(let text) = error else { throw error }
                #expect(!text.contains("secret"))
            }
        }
    }

    @Test func `no error and no client prints the key, a handle or a tag`() throws {
        let hub = ScriptedHub([nil, nil])
        let client = try Self.client(hub)
        do {
            _ = try client.createOrUpdate(Self.registration(Sample.token))
            Issue.record("no connection was taken for an answer")
        } catch {
            #expect(!"\(error)".contains(Sample.token) && !"\(error)".contains("sig="))
        }
        var dumped = ""
        dump(client, to: &dumped)
        #expect(!dumped.contains(Sample.key) && !"\(client)".contains(Sample.key))
    }

    @Test func `random tracking ids are UUIDs of version 4`() throws {
        let ids = Set((0..<100).map { _ in TrackingID.random() })
        #expect(ids.count == 100)
        for id in ids {
            #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        }
    }
}
