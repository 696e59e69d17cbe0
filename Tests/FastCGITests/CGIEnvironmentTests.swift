// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Testing
import Text

@testable import FastCGI

@Suite struct CGIEnvironmentTests {
    private func environment(_ entries: [String]) -> CGIEnvironment {
        var environment = CGIEnvironment()
        for entry in entries {
            let pair = entry.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            Array(pair[0]).withUnsafeBufferPointer { name in
                Array(pair.dropFirst().first ?? "".utf8[...]).withUnsafeBufferPointer {
                    environment.read(name: name, value: $0)
                }
            }
        }
        environment.makeID()
        return environment
    }

    private func request(_ entries: String...) throws -> Request {
        try environment(["REQUEST_METHOD=GET", "REQUEST_URI=/"] + entries).request()
    }

    @Test func `what nginx sends becomes a request`() throws {
        let request = try environment([
            "FCGI_ROLE=RESPONDER", "QUERY_STRING=handle=a%20b", "REQUEST_METHOD=PUT", "CONTENT_TYPE=application/json",
            "CONTENT_LENGTH=12", "SCRIPT_NAME=/api/register/é", "REQUEST_URI=/api/register/%C3%A9?handle=a%20b",
            "SERVER_PROTOCOL=HTTP/3.0", "REQUEST_SCHEME=https", "HTTPS=on", "REMOTE_ADDR=2001:db8::1",
            "REQUEST_ID=0123456789abcdef0123456789abcdef", "HTTP_HOST=example.org:8443", "HTTP_ACCEPT=*/*",
            "HTTP_X_TRACE=1", "HTTP_CONTENT_LENGTH=99", "HTTP_CONTENT_TYPE=text/plain",
        ]).request()
        #expect(request.method == .put)
        #expect(request.path == "/api/register/%C3%A9")
        #expect(request.query == "handle=a%20b")
        #expect(request.scheme == "https")
        #expect(request.authority == "example.org:8443")
        #expect(request.remoteAddress == "2001:db8::1")
        #expect(request.id == "0123456789abcdef0123456789abcdef")
        #expect(request.fields[.contentType] == "application/json")
        #expect(request.fields[.accept] == "*/*")
        #expect(request.fields[named: "X-Trace"] == "1")
        #expect(request.fields.count == 3)
    }

    @Test func `the user is the web server's parameter, and no field of a client's`() throws {
        #expect(try request("APP_BACKEND_USER=alice").authenticatedUser == "alice")
        #expect(try request("APP_BACKEND_USER=").authenticatedUser == nil)
        for name in ["HTTP_APP_BACKEND_USER", "REMOTE_USER", "HTTP_REMOTE_USER", "app_backend_user"] {
            #expect(try request("\(name)=alice").authenticatedUser == nil, "\(name)")
        }
    }

    @Test(arguments: [
        (["SCRIPT_NAME=/app", "PATH_INFO=/a b/ü", "QUERY_STRING=q=1"], "/app/a%20b/%C3%BC?q=1"),
        (["SCRIPT_NAME=/x"], "/x"),
        (["PATH_INFO=/100%"], "/100%25"),
        (["REQUEST_URI=/a?b?c", "SCRIPT_NAME=/other"], "/a?b?c"),
        (["REQUEST_URI=/a?"], "/a"),
        (["REQUEST_URI=/push/api/config?a=/push", "APP_BACKEND_PREFIX=/push"], "/api/config?a=/push"),
        (["REQUEST_URI=/push", "APP_BACKEND_PREFIX=/push"], "/push"),
        (["REQUEST_URI=/pushed/api", "APP_BACKEND_PREFIX=/push"], "/pushed/api"),
        (["REQUEST_URI=/api/config", "APP_BACKEND_PREFIX=/push"], "/api/config"),
        (["REQUEST_URI=/push/push/api", "APP_BACKEND_PREFIX=/push"], "/push/api"),
        (["REQUEST_URI=/push/api", "APP_BACKEND_PREFIX="], "/push/api"),
        (["REQUEST_URI=/push/api", "HTTP_APP_BACKEND_PREFIX=/push"], "/push/api"),
    ])
    func `path and query come from what the server gives`(_ entries: [String], _ target: String) throws {
        #expect(try environment(["REQUEST_METHOD=GET"] + entries).request().target == target)
    }

    @Test(arguments: [
        (["REQUEST_URI=/"], CGIEnvironment.Malformed.method), (["REQUEST_METHOD=", "REQUEST_URI=/"], .method),
        (["REQUEST_METHOD=G ET", "REQUEST_URI=/"], .method), (["REQUEST_METHOD=GET"], .target),
        (["REQUEST_METHOD=GET", "REQUEST_URI="], .target), (["REQUEST_METHOD=GET", "REQUEST_URI=x"], .target),
        (["REQUEST_METHOD=GET", "REQUEST_URI=/ x"], .target), (["REQUEST_METHOD=GET", "REQUEST_URI=/\n"], .target),
        (["REQUEST_METHOD=GET", "REQUEST_URI=/#f"], .target),
        (["REQUEST_METHOD=GET", "SCRIPT_NAME=/", "QUERY_STRING=a b"], .target),
        (["REQUEST_METHOD=GET", "REQUEST_URI=/", "HTTP_HOST=a/b"], .authority),
    ])
    func `what makes no request is named`(_ entries: [String], _ fault: CGIEnvironment.Malformed) {
        #expect(throws: fault) { try environment(entries).request() }
    }

    @Test(arguments: [("", 0), ("0", 0), ("12", 12), ("9223372036854775807", Int.max), ("007", 7)])
    func `a length is digits`(_ text: String, _ length: Int) throws {
        #expect(try environment(["CONTENT_LENGTH=\(text)"]).contentLength() == length)
        #expect(try environment([]).contentLength() == 0)
    }

    @Test(arguments: [
        ("-1", CGIEnvironment.Malformed.contentLength), ("+1", .contentLength), ("1 ", .contentLength),
        ("0x10", .contentLength), ("9223372036854775808", .contentLengthTooLarge),
        ("99999999999999999999999", .contentLengthTooLarge),
    ])
    func `another length is refused`(_ text: String, _ fault: CGIEnvironment.Malformed) {
        #expect(throws: fault) { try environment(["CONTENT_LENGTH=\(text)"]).contentLength() }
    }

    @Test func `a proxy from outside is never seen`() throws {
        #expect(try request("HTTP_PROXY=http://evil").fields.isEmpty)
    }

    @Test(arguments: ["HTTP_=x", "HTTP_A:B=x", "HTTP_Ä=x", "HTTP_A B=x", "=x", "nothing", "DOCUMENT_ROOT=/"])
    func `a name that is no field is ignored`(_ entry: String) throws {
        #expect(try request(entry).fields.isEmpty)
    }

    @Test func `the authorization that Apache redirects is a fallback`() throws {
        #expect(try request("REDIRECT_HTTP_AUTHORIZATION=Basic a").fields[.authorization] == "Basic a")
        let both = try request("REDIRECT_HTTP_AUTHORIZATION=Basic a", "HTTP_AUTHORIZATION=Basic b")
        #expect(both.fields[.authorization] == "Basic b")
        // mod_rewrite sets it for requests without credentials, too; they may have a cookie instead.
        #expect(try request("REDIRECT_HTTP_AUTHORIZATION=").fields[.authorization] == nil)
    }

    @Test(arguments: ["", "a b", "a\"b", String(repeating: "a", count: 65)])
    func `an illegal id is replaced by a random one`(_ id: String) throws {
        let made = try request("REQUEST_ID=\(id)").id
        #expect(made.utf8.count == 32)
        #expect(made.utf8.allSatisfy { ASCII.hexValue($0) != nil })
        let other = try request("REQUEST_ID=\(id)").id
        #expect(made != other)
    }

    @Test func `random ids survive every bit pattern`() throws {
        for _ in 0..<200 { #expect(try request().id.utf8.count == 32) }
    }

    @Test(arguments: [
        (["REQUEST_SCHEME=https"], "https"), (["HTTPS=on"], "https"), (["HTTPS=off"], "http"), ([], "http"),
        (["HTTPS=on", "REQUEST_SCHEME=http"], "http"), (["REQUEST_SCHEME=http", "HTTPS=on"], "http"),
    ])
    func `the scheme is said in two ways`(_ entries: [String], _ scheme: String) throws {
        #expect(try environment(["REQUEST_METHOD=GET", "REQUEST_URI=/"] + entries).request().scheme == scheme)
    }

    @Test(arguments: [
        (["SERVER_NAME=a.org", "SERVER_PORT=8080"], "a.org:8080"), (["SERVER_NAME=a.org", "SERVER_PORT=80"], "a.org"),
        (["SERVER_NAME=a.org", "SERVER_PORT=443", "HTTPS=on"], "a.org"), ([], ""),
        (["SERVER_NAME=a.org", "HTTP_HOST=b.org"], "b.org"),
    ])
    func `the authority is the host's, else the server's`(_ entries: [String], _ authority: String) throws {
        #expect(try environment(["REQUEST_METHOD=GET", "REQUEST_URI=/"] + entries).request().authority == authority)
    }

    @Test(arguments: [
        ("unix:", nil), ("", nil), ("a b", "?"), ("<script>", "?"), ("zz", "zz"), ("fe80::1%eth0", "fe80::1%eth0"),
    ])
    func `who has no address is not the same as who has a strange one`(_ text: String, _ address: String?) throws {
        #expect(try request("REMOTE_ADDR=\(text)").remoteAddress == address)
    }

    @Test(arguments: ["/a/../b", "/a/./b", "/..", "/a/%2e%2e/b", "/a/.%2E", "/a/%2E", "/a%2fb", "/x/..%2Fapi"])
    func `a path that leads elsewhere is refused`(_ path: String) throws {
        #expect(throws: CGIEnvironment.Malformed.target) {
            try environment(["REQUEST_METHOD=GET", "REQUEST_URI=\(path)?q=../x"]).request()
        }
    }

    @Test(arguments: ["/a.b/...", "/.well-known/x", "/a/..b", "/a%41/b%20"])
    func `a dot alone is no offence`(_ path: String) throws {
        #expect(try environment(["REQUEST_METHOD=GET", "REQUEST_URI=\(path)"]).request().path == path)
    }
}
