// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Testing

@Suite struct RouterTests {
    private func route(_ method: HTTPRequest.Method, _ pattern: String) -> Route<RequestAction> {
        Route(method, pattern) { _, parameters in
            Response(body: Array("\(method) \(pattern) \(parameters["id"])".utf8))
        }
    }

    private var router: Router<RequestAction> {
        Router([
            route(.get, "/"), route(.post, "/api/register"), route(.put, "/api/register/{id}"),
            route(.delete, "/api/register/{id}"), route(.get, "/api/register/all"), route(.get, "/{id}/x"),
        ])
    }

    private func answer(_ method: HTTPRequest.Method, _ path: String) throws -> String {
        String(decoding: try router.respond(to: Request(method: method, path: path)).body, as: UTF8.self)
    }

    @Test(
        arguments: [
            (.get, "/", "GET / "), (.post, "/api/register", "POST /api/register "),
            (.post, "/API/Register/", "POST /api/register "),
            (.put, "/api/register/7-a_B", "PUT /api/register/{id} 7-a_B"),
            (.delete, "/api/register/a%2Fb", "DELETE /api/register/{id} a/b"),
            (.put, "/api/register/%C3%A9", "PUT /api/register/{id} é"),
            (.get, "/api/register/all", "GET /api/register/all "), (.get, "/a+b/X", "GET /{id}/x a+b"),
        ] as [(HTTPRequest.Method, String, String)])
    func `a path leads to its action`(method: HTTPRequest.Method, path: String, expected: String) throws {
        #expect(try answer(method, path) == expected)
    }

    @Test(arguments: [
        "/api", "/api/registers", "/api/register/1/2", "/nothing", "/api/register/%zz", "/api/register/%FF",
        "//api/register", "/api//register", "/api/register//", "/api/register//7", "/api/register/7//", "//",
    ])
    func `a path without a route is not found`(path: String) {
        #expect(throws: RoutingError.notFound) { try answer(.put, path) }
    }

    @Test func `a method without a route names those that there are, each once`() {
        #expect(throws: RoutingError.methodNotAllowed([.put, .delete])) { try answer(.patch, "/api/register/1") }
        #expect(throws: RoutingError.methodNotAllowed([.post])) { try answer(.get, "/api/register") }
    }

    @Test func `the route of GET answers HEAD, and nothing else does`() throws {
        #expect(try answer(.head, "/a/x") == "GET /{id}/x a")
        #expect(throws: RoutingError.methodNotAllowed([.post])) { try answer(.head, "/api/register") }
    }

    @Test(
        arguments: [
            ("identity", false), (" Identity , identity", false), ("", false), (nil, false), ("gzip", true),
            ("identity, br", true),
        ] as [(String?, Bool)])
    func `a body is encoded where its field says another coding than none`(coding: String?, isEncoded: Bool) {
        var request = Request(method: .post, path: "/", body: [1])
        request.fields[.contentEncoding] = coding
        #expect(request.isEncoded == isEncoded)
        request.body = []
        #expect(!request.isEncoded)
    }

    @Test(arguments: ["/api/register/all", "/api/register/ALL", "/api/register/all/"])
    func `a word that a route spells out is no parameter of another, whatever the method and the order`(path: String) {
        for method in [HTTPRequest.Method.put, .delete, .patch] {
            #expect(throws: RoutingError.methodNotAllowed([.get, .head])) { try answer(method, path) }
        }
    }

    @Test func `a path is known by whatever method, and however it is spelled`() {
        let known = [
            "/": "/", "/api/register": "/api/register", "/API/Register/": "/api/register",
            "/api/register/7": "/api/register/{id}",
        ]
        for (path, pattern) in known {
            #expect(router.match(Request(method: .patch, path: path))?.pattern == pattern)
        }
        for path in ["/api", "/api/register/%zz", "/api/register/1/2", "/api//register"] {
            #expect(router.match(Request(method: .get, path: path)) == nil)
        }
    }

    @Test func `what an action throws is passed on`() {
        struct Refusal: Error {}
        let router = Router<RequestAction>([Route(.get, "/") { _, _ in throw Refusal() }])
        #expect(throws: Refusal.self) { try router.respond(to: Request(method: .get, path: "/")) }
    }

    @Test func `a request's target is path and query`() {
        #expect(Request(method: .get, path: "/a").target == "/a")
        #expect(Request(method: .get, path: "/a", query: "b=c").target == "/a?b=c")
    }
}
