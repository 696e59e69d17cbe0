// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NotificationHub
import Support
import Testing
import Text

@Suite struct `Lists of the built-in hub` {
    let bench = HubBench()

    /// All pages of a list, as a client walks them.
    private func walk(_ path: String, top: Int, encodeTwice: Bool = false) throws -> [[String]] {
        var pages: [[String]] = []
        var query = "api-version=2020-06&%24top=\(top)"
        for _ in 0..<100 {
            let response = bench.ask(.get, path, query: query)
            #expect(response.status.code == 200)
            pages.append(try response.ids())
            let next = HTTPField.Name("x-ms-continuationtoken").flatMap { response.fields[$0] }
            #expect((next == nil) == (try AtomFeed(decoding: response.body).next == nil))
            guard let next else { return pages }
            let once = PercentEncoding.encode(next)
            query =
                "api-version=2020-06&$top=\(top)&ContinuationToken=\(encodeTwice ? PercentEncoding.encode(once) : once)"
        }
        Issue.record("more pages than registrations")
        return pages
    }

    @Test(arguments: [1, 2, 7, 25, 26, 1000, 100_000])
    func `pages neither repeat nor lose`(top: Int) throws {
        let all = (1...25).map { "\($0)-1-1" }
        for (index, id) in all.enumerated() {
            bench.put(id, HubBench.apple("AB", tags: index.isMultiple(of: 2) ? "Even" : ""))
        }
        for encodeTwice in [false, true] {
            let pages = try walk("/myhub/registrations", top: top, encodeTwice: encodeTwice)
            #expect(pages.flatMap(\.self).sorted() == all.sorted())
            #expect(pages.allSatisfy { $0.count <= top })
        }
        let even = try walk("/myhub/tags/eVEN/registrations/", top: top).flatMap(\.self)
        #expect(even.sorted() == all.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element).sorted())
    }

    @Test func `links of a tag's list and of a next page are spelled as Azure spells them`() throws {
        for id in 1...2 { bench.put("\(id)-1-1", HubBench.apple("AB", tags: "Even")) }
        let page = bench.ask(.get, "/myhub/tags/Even/registrations", query: "api-version=2020-06&$top=1")
        let feed = try AtomFeed(decoding: page.body)
        let list = "https://hub.example:8443/myhub/tags/Even/registrations"
        #expect(feed.entries.map(\.link) == ["\(list)/1-1-1?api-version=2020-06&$top=1"])
        #expect(feed.link == "\(list)?api-version=2020-06&$top=1")
        #expect(feed.next == "\(list)?api-version=2020-06&%24top=1&continuationtoken=1-1-1")
    }

    @Test func `an SDK that refuses a page with a browser on it gets the others`() throws {
        let keys = "<P256DH>\(Self.publicKey)</P256DH><Auth>AAAAAAAAAAAAAAAAAAAAAA</Auth>"
        let browser = "<Endpoint>https://push.example/1</Endpoint>\(keys)"
        let element = "BrowserRegistrationDescription"
        #expect(bench.put("1-1-1", "<\(element) \(HubBench.namespaces)>\(browser)</\(element)>").status == .ok)
        bench.put("2-1-1", HubBench.apple("AB"))
        func ids(_ userAgent: String) throws -> [String] {
            try bench.ask(.get, "/myhub/registrations", fields: ["User-Agent": userAgent]).ids().sorted()
        }
        #expect(try ids("NHub/2020-06 (api-origin=JavaSDK;os=Linux)") == ["1-1-1", "2-1-1"])
        #expect(try ids("NHub/2020-06 (api-origin=DotNetSdk;os=Unix)") == ["2-1-1"])
    }

    private static let publicKey =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"

    @Test func `an empty list is 200 and a feed without entries`() throws {
        for path in ["/myhub/registrations", "/myhub/tags/none/registrations"] {
            let response = bench.ask(.get, path)
            #expect(response.status.code == 200)
            #expect(try response.ids() == [])
        }
        let filtered = bench.ask(.get, "/myhub/registrations", query: "api-version=2020-06&$filter=ChannelUri+eq+'AB'")
        #expect(filtered.status.code == 200)
        #expect(try filtered.ids() == [])
    }

    @Test(
        arguments: [
            ("$filter=ChannelUri+eq+%27ab01%27", "apple"), ("$filter=ChannelUri+eq+%27AB01%27&$top=100", "apple"),
            ("%24filter=DeviceToken+eq+%27AB01%27", "apple"), ("$filter=deviceToken+eq+'ab01'", "apple"),
            ("$filter=devicetoken%20EQ%20%27aB01%27", "apple"),
            ("$filter=ChannelUri+eq+%27https%3a%2f%2fsome.url%2fa%2f%27", "windows"),
            ("$filter=ChannelUri+eq+%27https%3a%2f%2fSOME.url%3a443%2fa%27", "windows"),
            // Encoded inside the literal, then again on the wire.
            ("%24filter=ChannelUri+eq+%27https%253A%252F%252Fsome.url%252Fa%252F%27", "windows"),
            ("$filter=ChannelUri+eq+%27fcm:token%27", "android"),
            ("$filter=FcmV1RegistrationId+eq+'fcm:token'", "android"),
            ("$filter=GcmRegistrationId+eq+'fcm:token'", "android"),
            ("$filter=BaiduChannelId+eq+c'+and+BaiduUserId+eq+'u'", "baidu"),
            ("$filter=BaiduUserId+eq+'u'+and+BaiduChannelId+eq+'c'", "baidu"),
            ("$filter=ChannelUri+eq+'u-c'", "baidu"),
            ("$filter=Endpoint+eq+'https://push.example/e'+and+P256DH+eq+'p'+and+Auth+eq+'a'", "browser"),
            ("$filter=ChannelUri+eq+'adm''s'", "adm"), ("$filter=AdmRegistrationId+eq+'adm''s'", "adm"),
            ("$filter=DeviceToken+eq+'fcm:token'", nil), ("$filter=AdmRegistrationId+eq+'fcm:token'", nil),
            ("$filter=GcmRegistrationId+eq+'FCM:TOKEN'", nil),
        ] as [(String, String?)])
    func `a device is found by any client's spelling`(filter: String, id: String?) throws {
        let p256dh = "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        let handles: [(String, DeviceHandle)] = [
            ("apple", try .apns("AB01")), ("windows", try .wns("https://some.url/a/")),
            ("android", try .fcm("fcm:token")), ("baidu", try .baidu(userID: "u", channelID: "c")),
            (
                "browser",
                try .browser(endpoint: "https://push.example/e", p256dh: p256dh, auth: "AAAAAAAAAAAAAAAAAAAAAA")
            ),
            ("adm", try .adm("adm's")),
        ]
        for (id, handle) in handles {
            let body = AtomEntry.encodeRequest(RegistrationDescription(handle: handle))
            bench.ask(.put, "/myhub/registrations/\(id)", body: String(decoding: body, as: UTF8.self))
        }
        for key in ["full", "listen"] {
            let response = bench.ask(
                .get, "/myhub/Registrations/", query: "api-version=2020-06&\(filter)", key: key)
            #expect(response.status.code == 200)
            #expect(try response.ids() == [id].compactMap(\.self))
        }
    }

    @Test func `a device with many registrations is paged as well`() throws {
        let all = (1...7).map { "\($0)-1-1" }
        for id in all { bench.put(id, HubBench.apple("AB")) }
        bench.put("8-1-1", HubBench.apple("CD"))
        var found: [String] = []
        var token = ""
        for _ in 0..<4 {
            let response = bench.ask(
                .get, "/myhub/registrations",
                query: "api-version=2020-06&$filter=DeviceToken+eq+'AB'&$top=2&continuationtoken=\(token)")
            found += try response.ids()
            token = HTTPField.Name("x-ms-continuationtoken").flatMap { response.fields[$0] } ?? ""
        }
        #expect(found == all)
        #expect(token.isEmpty)
    }

    @Test(arguments: [
        "$filter=", "$filter=x", "$filter=ChannelUri", "$filter=ChannelUri+ne+'x'", "$filter=ChannelUri+eq+'x",
        "$filter=ChannelUri+eq+'x'+or+ChannelUri+eq+'y'", "$filter=ChannelUri+eq+'x'+and",
        "$filter=ChannelUri+eq+'x'+and+ChannelUri+eq+'y'", "$filter=Tags+eq+'x'", "$filter=ChannelUri+eq+'x')",
        "$top=0", "$top=-1", "$top=x", "$top=99999999999999999999", "continuationtoken=a/b", "continuationtoken=xyz",
        "$filter=%zz",
    ])
    func `a list that cannot be made is a 400`(query: String) {
        let response = bench.ask(.get, "/myhub/registrations", query: "api-version=2020-06&\(query)")
        #expect(response.status.code == 400)
    }

    @Test func `any filter is answered 200 or 400`() {
        bench.put("1-1-1", HubBench.apple("AB01"))
        var random = SeededRandom(seed: 7)
        let words = [
            "ChannelUri", "DeviceToken", "eq", "and", "'", "''", "AB01", " ", "%", "\u{0}", "é", "https://", "/",
        ]
        for _ in 0..<3000 {
            let filter = (0..<Int.random(in: 0...9, using: &random))
                .map { _ in words[Int.random(in: 0..<words.count, using: &random)] }.joined(separator: " ")
            let query = "api-version=1&$filter=\(PercentEncoding.encode(filter))"
            #expect([200, 400].contains(bench.ask(.get, "/myhub/registrations", query: query).status.code))
        }
    }
}
