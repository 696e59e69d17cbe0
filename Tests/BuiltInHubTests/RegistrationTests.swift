// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Support
import Synchronization
import Testing

@Suite struct `Registrations of the built-in hub` {
    let bench = HubBench()

    @Test(arguments: ["/myhub/registrationids", "/MyHub/registrationIDs/", "/MYHUB/RegistrationIds"])
    func `an id is created, and Location echoes the path`(path: String) throws {
        let response = bench.ask(.post, path)
        #expect(response.status.code == 201)
        #expect(response.body.isEmpty)
        let location = try #require(response.fields[.location])
        let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
        #expect(location.hasPrefix("https://hub.example:8443\(trimmed)/"))
        #expect(location.hasSuffix("?api-version=2020-06"))
        let parts = response.createdID.split(separator: "-")
        #expect(parts.count == 3)
        #expect(parts.allSatisfy { Int64($0).map { $0 > 0 } == true })
        #expect(bench.ask(.get, "/myhub/registrations/\(response.createdID)").status.code == 404)
    }

    @Test func `what is created can be read, with ETag, expiry and an upper-case token`() throws {
        let created = bench.ask(
            .post, "/myhub/registrations", body: HubBench.entry(HubBench.apple("abcdef01", tags: "Tag1, tag2")))
        #expect(created.status.code == 200)
        #expect(created.fields[.eTag] == "W/\"1\"")
        let registration = try AtomEntry(decoding: created.body).registration
        let id = try #require(registration.id)
        #expect(
            created.fields[.contentLocation]
                == "https://hub.example:8443/myhub/registrations/\(id)?api-version=2020-06")
        #expect(registration.handle == (try DeviceHandle.apns("ABCDEF01")))
        #expect(registration.tagList == "Tag1,tag2")
        #expect(registration.expirationTime == "9999-12-31T23:59:59.999")
        let read = bench.ask(.get, "/MyHub/Registrations/\(id)/")
        #expect(read.status.code == 200)
        #expect(read.fields[.eTag] == "W/\"1\"")
        #expect(read.text.contains("<DeviceToken>ABCDEF01</DeviceToken>"))
        #expect(try AtomEntry(decoding: read.body).registration.expirationTime == "9999-12-31T23:59:59.999Z")
    }

    @Test func `an upsert creates, then replaces and counts`() throws {
        #expect(bench.put("1-2-3", HubBench.apple("AA")).fields[.eTag] == "W/\"1\"")
        let second = bench.put("1-2-3", HubBench.windows("https://Some.URL", tags: "x"))
        #expect(second.status.code == 200)
        #expect(second.fields[.eTag] == "W/\"2\"")
        #expect(second.text.contains("<ChannelUri>https://some.url/</ChannelUri>"))
        let registration = try AtomEntry(decoding: bench.ask(.get, "/myhub/registrations/1-2-3").body).registration
        #expect(registration.platform == .wns)
        #expect(registration.etag == "2")
    }

    @Test(arguments: [
        ("W/\"1\"", 200), ("\"1\"", 200), ("1", 200), ("*", 200), ("\"*\"", 200),
        ("W/\"2\"", 412), ("\"2\"", 412), ("2", 412), ("0", 412), ("-1", 412), ("+1", 412), ("x", 412), ("\"", 412),
        ("99999999999999999999", 412), ("", 412),
    ])
    func `If-Match is understood in every spelling`(value: String, status: Int) {
        bench.put("1-2-3", HubBench.apple("AA"))
        #expect(bench.put("1-2-3", HubBench.apple("BB"), ifMatch: value).status.code == status)
        bench.put("4-5-6", HubBench.apple("AA"))
        let deleted = bench.ask(.delete, "/myhub/registrations/4-5-6", fields: ["If-Match": value])
        #expect(deleted.status.code == status)
        #expect(bench.ask(.get, "/myhub/registrations/4-5-6").status.code == (status == 200 ? 404 : 200))
    }

    @Test func `an update of nothing is 404, a delete without If-Match 412, a second delete 404`() {
        #expect(bench.put("1-2-3", HubBench.apple("AA"), ifMatch: "*").status.code == 404)
        bench.put("1-2-3", HubBench.apple("AA"))
        #expect(bench.ask(.delete, "/myhub/registrations/1-2-3").status.code == 412)
        #expect(bench.ask(.delete, "/myhub/registrations/1-2-3", fields: ["If-Match": "*"]).status.code == 200)
        #expect(bench.ask(.delete, "/myhub/registrations/1-2-3", fields: ["If-Match": "*"]).status.code == 404)
    }

    @Test func `a template, push variables and a tile come back whole`() throws {
        let body = """
            <WindowsTemplateRegistrationDescription \(HubBench.namespaces)><Tags>a</Tags>\
            <PushVariables>{"k":"v"}</PushVariables><ChannelUri>https://some.url/</ChannelUri>\
            <SecondaryTileName>tile</SecondaryTileName><BodyTemplate><![CDATA[<toast a="&amp;">$(m)</toast>]]></BodyTemplate>\
            <WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader>\
            <WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader></WnsHeaders>\
            <TemplateName>tn</TemplateName></WindowsTemplateRegistrationDescription>
            """
        bench.put("1-2-3", body)
        var sent = try AtomEntry.decodeRequest(Array(HubBench.entry(body).utf8))
        let read = try AtomEntry(decoding: bench.ask(.get, "/myhub/registrations/1-2-3").body).registration
        sent.id = RegistrationID("1-2-3")
        sent.etag = "1"
        sent.expirationTime = read.expirationTime
        #expect(read == sent)
    }

    @Test func `every kind of handle comes back as it was sent`() throws {
        let p256dh = "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        let handles: [DeviceHandle] = [
            try .apns("ab"), try .fcm("token:1"), try .gcm("token"), try .wns("https://a.b/c?d=e"),
            try .mpns("https://a.b/"), try .adm("id"), try .baidu(userID: "u", channelID: "c-d"),
            try .browser(endpoint: "https://push.example/e", p256dh: p256dh, auth: "AAAAAAAAAAAAAAAAAAAAAA"),
        ]
        for (index, handle) in handles.enumerated() {
            let sent = RegistrationDescription(tags: [try Tag("Ä")], handle: handle)
            let path = "/myhub/registrations/1-\(index)-1"
            let body = String(decoding: AtomEntry.encodeRequest(sent), as: UTF8.self)
            #expect(bench.ask(.put, path, body: body).status.code == 200)
            #expect(try AtomEntry(decoding: bench.ask(.get, path).body).registration.handle == handle)
        }
    }

    @Test func `ten writers of one id each count once`() async throws {
        let store = MemoryHubStore()
        let bench = HubBench(store: store)
        var written = 0
        await withTaskGroup(of: Int.self) { group in
            for writer in 0..<10 {
                group.addTask { bench.put("1-2-3", HubBench.apple("0\(writer)")).status.code }
            }
            for await status in group {
                #expect(status == 200 || status == 409)
                if status == 200 { written += 1 }
            }
        }
        let registration = try AtomEntry(decoding: bench.ask(.get, "/myhub/registrations/1-2-3").body).registration
        #expect(registration.etag == String(written))
        #expect(store.registrationCount == 1)
    }

    @Test(arguments: [
        ("", "empty"), ("<", "no XML"), ("<entry/>", "another document"),
        (HubBench.entry(""), "no description"),
        (HubBench.entry(HubBench.apple("xyz")), "no token"), (HubBench.entry(HubBench.apple("abc")), "an odd token"),
        (HubBench.entry(HubBench.apple("ab", tags: "$InstallationId:{1}")), "a system tag"),
        (HubBench.entry(HubBench.apple("ab", tags: "a b")), "a tag with a blank"),
        (HubBench.entry(HubBench.apple("ab", tags: "a&b")), "an ampersand that is no entity"),
        (HubBench.entry(HubBench.apple("ab", tags: String(repeating: "t", count: 121))), "a tag that is too long"),
        (HubBench.entry(HubBench.apple("ab", tags: String(repeating: "tt,", count: 2667))), "too many tags"),
        (HubBench.entry(HubBench.windows("http://some.url/")), "a channel without TLS"),
        (
            HubBench.entry(
                "<WindowsTemplateRegistrationDescription \(HubBench.namespaces)><ChannelUri>https://a.b/</ChannelUri>"
                    + "<BodyTemplate>x</BodyTemplate></WindowsTemplateRegistrationDescription>"),
            "a Windows template without its type"
        ),
    ])
    func `a malformed registration is a 400 that says so in the hub's words`(body: String, what: String) throws {
        for (method, path) in [(HTTPRequest.Method.post, "/myhub/registrations"), (.put, "/myhub/registrations/1-2-3")]
        {
            let response = bench.ask(method, path, body: body)
            #expect(response.status.code == 400, "\(what)")
            let document = try ErrorDocument(decoding: response.body)
            #expect(document.code == "400")
            #expect(document.detail.contains(".TrackingId:"))
        }
    }
}
