// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Support
import Testing

@Suite struct `Sends of the built-in hub` {
    let store = MemoryHubStore()
    let bench: HubBench

    init() {
        bench = HubBench(store: store)
    }

    private func details(_ sent: Response) throws -> NotificationDetails {
        #expect(sent.status.code == 201)
        #expect(sent.body.isEmpty)
        let response = bench.ask(.get, "/myhub/messages/\(sent.createdID)", key: "send")
        #expect(response.status.code == 200)
        #expect(response.fields[.contentType] == "application/xml; charset=utf-8")
        return try NotificationDetails(decoding: response.body)
    }

    private func counts(_ sent: Response) throws -> [Platform: Int] {
        let outcomes = try details(sent).outcomes
        return Dictionary(uniqueKeysWithValues: outcomes.map { ($0.platform, $0.counts.reduce(0) { $0 + $1.count }) })
    }

    private func registerSome() {
        bench.put("1-1-1", HubBench.apple("AA", tags: "a,username:alice"))
        bench.put("2-1-1", HubBench.apple("BB", tags: "b"))
        bench.put("3-1-1", HubBench.android("one", tags: "a"))
        bench.put("4-1-1", HubBench.android("two", tags: "A,b", element: "Gcm"))
        bench.put("5-1-1", HubBench.windows("https://a.b/c", tags: "a"))
        bench.put("6-1-1", HubBench.appleTemplate("AA", tags: "a"))
        bench.put("7-1-1", HubBench.appleTemplate("AA", tags: "b"))
    }

    @Test func `a send is recorded with what became of it, and nothing is called a success`() throws {
        registerSome()
        let sent = bench.send("apple", tags: "a || b", query: "api-version=2017-04&x=y")
        let location = try #require(sent.fields[.location])
        #expect(location.hasPrefix("https://hub.example:8443/myhub/messages/"))
        #expect(location.hasSuffix("?api-version=2017-04&x=y"))
        let details = try details(sent)
        #expect(details.id == sent.createdID)
        #expect(details.state == "Abandoned")
        #expect(details.tags == "a || b")
        #expect(details.targetPlatforms == "apple")
        #expect(details.enqueueTime == "2018-11-07T00:18:37Z")
        #expect(details.location?.hasPrefix("sb://hub.example:8443/myhub/messages/") == true)
        #expect(details.body == nil)
        #expect(details.outcomes == [PlatformOutcomes(.apns, [PlatformOutcomes.Count("Skipped", 2)])])
    }

    @Test(
        arguments: [
            ("apple", nil, [Platform.apns: 2]), ("apple", "", [.apns: 2]), ("apple", "USERNAME:alice", [.apns: 1]),
            ("apple", "!a", [.apns: 1]), ("fcmv1", nil, [.fcm: 1, .gcm: 1]), ("FcmV1", "b", [.gcm: 1]),
            ("gcm", "a", [.fcm: 1, .gcm: 1]), ("windows", "a && !b", [.wns: 1]), ("windows", "b", [:]),
            ("template", nil, [.apns: 2]), ("template", "a", [.apns: 1]), ("browser", nil, [:]),
        ] as [(String, String?, [Platform: Int])])
    func `a native send reaches its platform, a template send every template`(
        format: String, tags: String?, expected: [Platform: Int]
    ) throws {
        registerSome()
        let sent = bench.send(format, tags: tags)
        #expect(try counts(sent) == expected)
        #expect(try details(sent).state == (expected.isEmpty ? "NoTargetFound" : "Abandoned"))
    }

    @Test func `one device that is registered often gets one native message`() throws {
        for id in 1...5 { bench.put("\(id)-1-1", HubBench.apple(id < 4 ? "AA" : "aa", tags: "a,b")) }
        #expect(try counts(bench.send("apple", tags: "a || b")) == [.apns: 1])
        #expect(try counts(bench.send("apple")) == [.apns: 1])
    }

    @Test(
        arguments: [
            (nil, nil, nil), ("nokiax", nil, nil), ("", nil, nil), ("apple", "a &", nil), ("apple", "a b", nil),
            ("apple", "(a", nil), ("apple", "a && b && c && d && e && f && g", nil),
            ("apple", (1...21).map { "t\($0)" }.joined(separator: "||"), nil),
            ("apple", String(repeating: "(", count: 5000), nil),
            ("apple", nil, "direct"), ("apple", "a", "direct"), ("template", nil, "direct"),
        ] as [(String?, String?, String?)])
    func `a send that cannot be understood is a 400`(format: String?, tags: String?, item: String?) {
        var fields: [String: String] = [:]
        fields["ServiceBusNotification-Format"] = format
        fields["ServiceBusNotification-Tags"] = tags
        let query = "api-version=2020-06" + (item.map { "&\($0)" } ?? "")
        let response = bench.ask(.post, "/myhub/messages", query: query, fields: fields, body: "{}")
        #expect(response.status.code == 400)
    }

    @Test(arguments: ["direct", "direct=", "direct=true"])
    func `a direct send needs no registration`(item: String) throws {
        let sent = bench.send(
            "apple", query: "api-version=2020-06&\(item)", fields: ["ServiceBusNotification-DeviceHandle": "AABB"])
        #expect(try counts(sent) == [.apns: 1])
        #expect(sent.fields[.location]?.hasSuffix("&\(item)") == true)
        let bad = bench.send(
            "apple", query: "api-version=2020-06&\(item)", fields: ["ServiceBusNotification-DeviceHandle": "no token"])
        #expect(bad.status.code == 400)
        #expect(!bad.text.contains("no token"))
    }

    @Test func `a direct send to a browser brings its keys`() throws {
        let p256dh = "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        let fields = [
            "ServiceBusNotification-DeviceHandle": "https://push.example/e", "P256DH": p256dh,
            "Auth": "AAAAAAAAAAAAAAAAAAAAAA",
        ]
        #expect(try counts(bench.send("browser", query: "api-version=1&direct", fields: fields)) == [.browser: 1])
    }

    @Test func `a message too large for its service is told apart`() throws {
        bench.put("1-1-1", HubBench.apple("AA"))
        let sent = bench.send("apple", body: String(repeating: "x", count: 4097))
        let expected = [PlatformOutcomes(.apns, [PlatformOutcomes.Count("InvalidNotificationSize", 1)])]
        #expect(try details(sent).outcomes == expected)
    }

    @Test(arguments: ["test", "test=true", "debug=true"])
    func `a test send tells each device's fate, of ten at most`(item: String) throws {
        let empty = bench.send("apple", query: "api-version=2020-06&\(item)")
        #expect(empty.status.code == 201)
        #expect(empty.text.contains("<Success>0</Success><Failure>0</Failure><Results></Results>"))
        for id in 10...24 { bench.put("\(id)-1-1", HubBench.apple("AA\(id)")) }
        let sent = bench.send("apple", query: "api-version=2020-06&\(item)")
        #expect(sent.text.hasPrefix("<NotificationOutcome xmlns="))
        #expect(sent.text.contains("<Success>0</Success><Failure>10</Failure>"))
        #expect(sent.text.components(of: "<Outcome>Skipped</Outcome>") == 10)
        let details = bench.ask(.get, "/myhub/messages/\(sent.createdID)")
        #expect(try NotificationDetails(decoding: details.body).outcomes.first?.counts.first?.count == 15)
    }

    @Test func `a send costs what it reaches, not what there is`() throws {
        for id in 0..<200 { bench.put("\(id)-1-1", HubBench.apple("AB\(100 + id)0", tags: id < 3 ? "few,all" : "all")) }
        let before = store.registrationsRead
        #expect(try counts(bench.send("apple", tags: "few && all")) == [.apns: 3])
        #expect(store.registrationsRead - before == 3)
        #expect(try counts(bench.send("apple", tags: "few || none")) == [.apns: 3])
        #expect(store.registrationsRead - before == 6)
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func components(of text: String) -> Int {
        var count = 0
        var rest = Substring(self)
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
