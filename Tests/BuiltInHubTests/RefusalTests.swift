// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Support
import Synchronization
import Testing
import Text

import class System.Lock

@Suite struct `What the built-in hub refuses` {
    let bench = HubBench()

    static let tokens: [(String?, String)] = [
        (nil, "none"), ("", "empty"), ("Basic YTpi", "another scheme"), ("SharedAccessSignature", "nothing behind it"),
        ("SharedAccessSignature sr=x&sig=y&se=1&skn=full", "nonsense"),
        (HubBench.token(secret: "other"), "another key"), (HubBench.token("nobody"), "an unknown key"),
        (HubBench.token(expiry: HubBench.now), "expired"), (HubBench.token(expiry: 0), "expired long ago"),
        (HubBench.token(resource: "https://other.example/myhub"), "another host"),
        (HubBench.token(resource: "https://hub.example/otherhub"), "another hub"),
        (HubBench.token(resource: "https://hub.example/myhub/messages"), "another path"),
        (HubBench.token() + "&se=9999999999", "a second expiry"),
    ]

    @Test(arguments: tokens)
    func `a token that is not right is a 401, whatever the path`(token: String?, what: String) throws {
        for path in ["/myhub/registrations/1-2-3", "/myhub/nothing", "/thirdhub/registrations/1-2-3", "/"] {
            var request = Request(method: .get, authority: HubBench.host, path: path, query: "api-version=2020-06")
            request.fields[.authorization] = token
            let response = bench.hub.respond(to: request)
            #expect(response.status.code == 401, "\(what)")
            #expect(try ErrorDocument(decoding: response.body).code == "401")
        }
    }

    @Test func `a good token for a hub that is not here is a 404`() {
        var request = Request(
            method: .get, authority: HubBench.host, path: "/otherhub/registrations", query: "api-version=2020-06")
        request.fields[.authorization] = HubBench.token(resource: "https://hub.example/otherhub")
        #expect(bench.hub.respond(to: request).status.code == 404)
    }

    @Test(arguments: [
        "http://hub.example/myhub/registrationids/", "https://hub.example/", "https://hub.example",
        "https://hub.example:8443/myhub/registrationids?api-version=2020-06", "sb://hub.example/myhub",
    ])
    func `a token in any client's form opens the door`(resource: String) {
        var request = Request(
            method: .post, authority: HubBench.host, path: "/myhub/registrationids", query: "api-version=2020-06")
        request.fields[.authorization] = HubBench.token(resource: resource)
        #expect(bench.hub.respond(to: request).status.code == 201)
    }

    static let rights: [(HTTPRequest.Method, String, String, [String])] = [
        (.post, "/myhub/registrationids", "", ["listen", "full"]),
        (.post, "/myhub/registrations", "", ["listen", "full"]),
        (.put, "/myhub/registrations/1-2-3", "", ["listen", "full"]),
        (.get, "/myhub/registrations/1-2-3", "", ["listen", "full"]),
        (.delete, "/myhub/registrations/1-2-3", "", ["listen", "full"]),
        (.get, "/myhub/registrations", "&$filter=DeviceToken+eq+'AB'", ["listen", "full"]),
        (.get, "/myhub/registrations", "", ["full"]),
        (.get, "/myhub/tags/a/registrations", "", ["full"]),
        (.post, "/myhub/messages", "", ["send", "full"]),
        (.get, "/myhub/messages/1", "", ["send", "full"]),
        (.delete, "/myhub/schedulednotifications/1", "", ["send", "full"]),
    ]

    @Test(arguments: rights)
    func `each operation needs its right`(
        method: HTTPRequest.Method, path: String, query: String, allowed: [String]
    ) throws {
        for key in ["listen", "send", "full"] {
            let response = bench.ask(method, path, query: "api-version=2020-06" + query, key: key)
            #expect((response.status.code != 401) == allowed.contains(key), "\(key)")
            guard response.status.code == 401 else { continue }
            let right = allowed.contains("listen") ? "Listen" : allowed.contains("send") ? "Send" : "Manage"
            #expect(
                try ErrorDocument(decoding: response.body).detail.hasPrefix(
                    "\(right) claim is required for this operation..TrackingId:"))
        }
    }

    @Test(
        arguments: [
            (HTTPRequest.Method.get, "/myhub/nothing", 404, nil), (.patch, "/myhub", 405, "GET, HEAD, PUT, DELETE"),
            (.get, "/", 404, nil),
            (.get, "/myhub/registrations/1/2", 404, nil), (.get, "/otherhub/registrations", 404, nil),
            (.post, "/myhub/installations/1", 405, "PUT, GET, HEAD, PATCH, DELETE"),
            (.patch, "/myhub/registrations/1-2-3", 405, "PUT, GET, HEAD, DELETE"),
            (.get, "/myhub/registrationids", 405, "POST"),
            (.delete, "/myhub/messages", 405, "POST"), (.put, "/myhub/registrations", 405, "POST, GET, HEAD"),
            (.get, "/myhub/registrations/a%20b", 400, nil), (.get, "/myhub/registrations/%00", 400, nil),
            (.get, "/myhub/tags/a%20b/registrations", 400, nil), (.get, "/myhub/messages/unknown", 404, nil),
        ] as [(HTTPRequest.Method, String, Int, String?)])
    func `what is not there is 404, what is not possible 405, what is no name 400`(
        method: HTTPRequest.Method, path: String, status: Int, allow: String?
    ) throws {
        var request = Request(method: method, authority: HubBench.host, path: path, query: "api-version=2020-06")
        request.fields[.authorization] = HubBench.token(resource: "https://hub.example/")
        let response = bench.hub.respond(to: request)
        #expect(response.status.code == status)
        #expect(response.fields[.allow] == allow)
        #expect(try ErrorDocument(decoding: response.body).code == String(status))
    }

    @Test(arguments: ["", "api-version=", "api-version=a/b", "api-version=%zz", "version=1"])
    func `a request without a version is a 400`(query: String) {
        #expect(bench.ask(.post, "/myhub/registrationids", query: query).status.code == 400)
    }

    @Test(arguments: ["2013-04", "2014-09", "2015-01", "2020-06", "2030-01-01-preview"])
    func `any version is taken`(version: String) {
        let response = bench.ask(.post, "/myhub/registrationids", query: "API-Version=\(version)")
        #expect(response.fields[.location]?.hasSuffix("?api-version=\(version)") == true)
    }

    @Test func `a body above 64 KiB is a 413, one of 64 KiB is not`() {
        let tooLarge = bench.send("apple", body: String(repeating: "x", count: 65_537))
        #expect(tooLarge.status.code == 413)
        #expect(bench.send("apple", body: String(repeating: "x", count: 65_536)).status.code == 201)
    }

    @Test func `a compressed body is a 415`() {
        let refused = bench.ask(.post, "/myhub/registrationids", fields: ["Content-Encoding": "gzip"], body: "x")
        #expect(refused.status.code == 415 && refused.fields[.acceptEncoding] == "identity")
    }

    @Test func `an error bears the request's tracking id and the time`() throws {
        let response = bench.ask(.get, "/myhub/registrations/1-2-3", fields: ["TrackingId": "my-request-7"])
        let document = try ErrorDocument(decoding: response.body)
        #expect(response.text.hasPrefix("<Error><Code>404</Code><Detail>"))
        #expect(document.detail == ".TrackingId:my-request-7_G0,TimeStamp:11/7/2018 12:18:37 AM")
        let name = try #require(HTTPField.Name("TrackingId"))
        #expect(response.fields[name] == "my-request-7")
        let forged = bench.ask(.get, "/myhub/registrations/1-2-3", fields: ["TrackingId": "<a> b"])
        #expect(!forged.text.contains("&lt;a"))
        #expect(forged.fields[name]?.count == 36)
    }

    @Test(
        arguments: [
            (StoreError.busy(retryAfterSeconds: 3), 503, "3"), (.full, 503, "10"), (.readOnly, 503, "10"),
            (.poisoned, 503, "10"), (.damaged(detail: "secret-file"), 503, "10"),
            (.unavailable(detail: "secret-file"), 503, "10"), (.quotaExceeded, 403, "10"), (.conflict, 409, nil),
            (.invalidContinuationToken, 400, nil),
        ] as [(StoreError, Int, String?)])
    func `a store that cannot is told apart, and its files are not named`(
        error: StoreError, status: Int, retryAfter: String?
    ) {
        let bench = HubBench(store: FailingStore(error: error))
        let response = bench.put("1-2-3", HubBench.apple("AB"))
        #expect(response.status.code == status)
        #expect(response.fields[.retryAfter] == retryAfter)
        #expect(!response.text.contains("secret-file"))
    }

    static let operations: [(HTTPRequest.Method, String, String)] = [
        (.post, "/myhub/registrations", HubBench.entry(HubBench.apple("AB"))),
        (.put, "/myhub/registrations/1-2-3", HubBench.entry(HubBench.apple("AB"))),
        (.get, "/myhub/registrations/1-2-3", ""), (.delete, "/myhub/registrations/1-2-3", ""),
        (.get, "/myhub/registrations", ""), (.get, "/myhub/tags/a/registrations", ""),
        (.post, "/myhub/messages", "{}"), (.get, "/myhub/messages/1", ""),
    ]

    @Test(arguments: operations)
    func `why the store cannot is reported with the request's id, for each operation`(
        method: HTTPRequest.Method, path: String, body: String
    ) {
        let errors: [StoreError] = [
            .full, .readOnly, .poisoned, .busy(retryAfterSeconds: 3), .unavailable(detail: "secret-file"),
            .damaged(detail: "secret-file"), .notReady(detail: "secret-file"), .quotaExceeded,
        ]
        for error in errors {
            let reported = Lock<[String]>([])
            let bench = HubBench(
                store: FailingStore(error: error),
                report: { cause, id in
                    reported.withLock { $0.append("\(id): \(cause)") }
                })
            let response = bench.ask(
                method, path,
                fields: ["TrackingId": "request-7", "If-Match": "*", "ServiceBusNotification-Format": "apple"],
                body: body)
            #expect(response.status.code == (error == .quotaExceeded ? 403 : 503))
            #expect(reported.withLock(\.self) == ["request-7: \(error)"])
        }
    }

    @Test(arguments: [StoreError.conflict, .invalidContinuationToken])
    func `what is the client's own affair is not reported`(error: StoreError) {
        let reports = Atomic(0)
        let bench = HubBench(
            store: FailingStore(error: error),
            report: { _, _ in
                reports.add(1, ordering: .relaxed)
            })
        #expect(bench.put("1-2-3", HubBench.apple("AB")).status.code < 500)
        #expect(bench.ask(.get, "/myhub/nothing").status.code == 404)
        #expect(reports.load(ordering: .relaxed) == 0)
    }

    @Test func `any path and method is answered, and never with success without a route`() {
        var random = SeededRandom(seed: 11)
        let parts = ["myhub", "MYHUB", "registrations", "tags", "messages", "%2F", "%", "..", "{id}", "é", "1-2-3", ""]
        let methods: [HTTPRequest.Method] = [.get, .post, .put, .delete, .patch, .head, .options]
        for _ in 0..<3000 {
            let path = (0..<Int.random(in: 0...5, using: &random))
                .map { _ in "/" + parts[Int.random(in: 0..<parts.count, using: &random)] }.joined()
            let method = methods[Int.random(in: 0..<methods.count, using: &random)]
            let status = bench.ask(method, path).status.code
            #expect([200, 400, 401, 403, 404, 405, 412].contains(status), "\(method) \(path) \(status)")
        }
    }
}

/// A store of which every call fails alike.
struct FailingStore: HubStore {
    let error: StoreError

    func hubRegistration(_ id: String) throws(StoreError) -> HubRegistration? { throw error }
    func putHubRegistration(_ registration: HubRegistration) throws(StoreError) -> HubRegistration { throw error }
    func removeHubRegistration(_ id: String, version: Int?) throws(StoreError) -> Bool { throw error }
    func hubRegistrations(channel: String) throws(StoreError) -> [HubRegistration] { throw error }
    func hubRegistrations(tag: String, after: String?, limit: Int) throws(StoreError) -> Page<HubRegistration> {
        throw error
    }
    func forEachHubRegistration(tag: String, _ body: (HubRegistration) -> Void) throws(StoreError) { throw error }
    func hubRegistrations(
        in namespace: HubNamespace?, after: String?, limit: Int
    ) throws(StoreError) -> Page<HubRegistration> {
        throw error
    }
    func putHubMessage(_ message: HubMessage) throws(StoreError) { throw error }
    func hubMessage(_ id: String, now: Timestamp) throws(StoreError) -> HubMessage? { throw error }
}
