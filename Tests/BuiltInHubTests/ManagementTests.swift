// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Testing
import XML

/// The hub as a thing that SDKs ask for, and the operations that it does not have.
@Suite struct `The hub itself` {
    let bench = HubBench()

    @Test func `is read by its name, in any case, without keys`() throws {
        let response = bench.ask(.get, "/MYHUB")
        #expect(response.status == .ok)
        #expect(response.fields[.contentType] == "application/atom+xml; type=entry; charset=utf-8")
        let entry = try XMLDocument.parse(response.body)
        #expect(entry.name.local == "entry" && entry.children.first { $0.name.local == "title" }?.text == "MyHub")
        let content = try #require(entry.children.first { $0.name.local == "content" }?.children.first)
        #expect(content.name.local == "NotificationHubDescription")
        #expect(content.children.map(\.text) == ["P10675199DT2H48M5.4775807S"])
        #expect(!response.text.contains("-key"))
    }

    @Test func `is the only one in the list of hubs, and another is an empty list`() throws {
        let hubs = try XMLDocument.parse(ask(.get, "/$Resources/NotificationHubs").body)
        let entries = hubs.children.filter { $0.name.local == "entry" }
        #expect(entries.map { $0.children.first?.text } == ["https://hub.example:8443/MyHub?api-version=2020-06"])
        let other = ask(.get, "/other")
        #expect(other.status == .ok && other.text.contains("Publicly Listed Services"))
        #expect(!other.text.contains("<entry"))
    }

    @Test(
        arguments: [
            (.put, "/myhub", "The operator"), (.delete, "/myhub", "The operator"),
            (.post, "/myhub/jobs", "This hub has no jobs"),
            (.get, "/myhub/jobs", "This hub has no jobs"), (.get, "/myhub/jobs/1", "This hub has no jobs"),
            (.get, "/myhub/feedbackcontainer", "This hub has no feedback container"),
        ] as [(HTTPRequest.Method, String, String)])
    func `refuses what it does not have with a sentence`(method: HTTPRequest.Method, path: String, text: String) throws
    {
        let response = bench.ask(method, path)
        #expect(response.status == .forbidden && response.fields[.retryAfter] == nil)
        #expect(try ErrorDocument(decoding: response.body).detail.hasPrefix(text))
        #expect(bench.ask(method, path, key: "listen").status == .unauthorized)
        #expect(bench.ask(method, path, token: "").status == .unauthorized)
    }

    @Test func `needs Manage to be read`() {
        for path in ["/myhub", "/$Resources/NotificationHubs"] {
            #expect(ask(.get, path, key: "send").status == .unauthorized)
        }
    }

    @Test func `gives an id without a Content-Type, as recorded`() {
        let response = bench.ask(.post, "/myhub/registrationids")
        #expect(response.status == .created && response.fields[.contentType] == nil)
    }

    /// With a token for the whole namespace.
    private func ask(_ method: HTTPRequest.Method, _ path: String, key: String = "full") -> Response {
        bench.ask(method, path, token: HubBench.token(key, resource: "https://hub.example/"))
    }
}
