// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Testing

@testable import Curl

@Suite struct `An answer as it arrives` {
    private func take(_ lines: [String], into answer: inout ResponseBuilder) -> Bool {
        lines.allSatisfy { line in
            Array(line.utf8).withUnsafeBytes { answer.take(headerLine: $0) }
        }
    }

    @Test func `the fields of the last header count, without those of a 1xx answer before it`() throws {
        var answer = ResponseBuilder(maximumBodyBytes: 10)
        let lines = [
            "HTTP/1.1 103 Early Hints\r\n", "Link: x\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "ETag:  \"1\" \t\r\n",
            "Empty:\r\n", "Set-Cookie: a\r\n", "Set-Cookie: b\r\n", "no field at all\r\n", "b ad: x\r\n", ": x\r\n",
            "\r\n",
        ]
        #expect(take(lines, into: &answer))
        let response = try answer.response(status: 200)
        #expect(response.fields.map(\.name.canonicalName) == ["etag", "empty", "set-cookie", "set-cookie"])
        #expect(response.fields[.eTag] == "\"1\"")
        #expect(response.fields[values: .setCookie] == ["a", "b"])
    }

    @Test(arguments: [
        ("HTTP/1.1 410 Domain Blocked\r\n", "Domain Blocked"), ("HTTP/1.1 410 \r\n", ""), ("HTTP/1.1 410\r\n", ""),
        ("HTTP/2 410 \r\n", ""), ("HTTP/1.1 410 a\u{1}\u{E9}b\r\n", "ab"), ("HTTP/", ""),
    ])
    func `what follows the status is kept, without what is no printable text`(line: String, phrase: String) throws {
        var answer = ResponseBuilder(maximumBodyBytes: 10)
        #expect(take(["HTTP/1.1 100 Continue\r\n", "\r\n", line, "\r\n"], into: &answer))
        #expect(try answer.response(status: 410).status.reasonPhrase == phrase)
    }

    @Test func `a header of too many lines is too large`() {
        var answer = ResponseBuilder(maximumBodyBytes: 10)
        let most = Array(repeating: "A: b\r\n", count: CurlOptions.maximumResponseFields)
        #expect(take(most, into: &answer))
        #expect(!answer.isTooLarge)
        #expect(!take(["A: b\r\n"], into: &answer))
        #expect(answer.isTooLarge)
    }

    @Test func `a header of too many bytes is too large`() {
        var answer = ResponseBuilder(maximumBodyBytes: 10)
        let half = "A: " + String(repeating: "b", count: CurlOptions.maximumResponseFieldBytes / 2 - 3)
        #expect(take([half, half], into: &answer))
        #expect(!take(["A"], into: &answer))
        #expect(answer.isTooLarge)
    }

    @Test func `an answer is whole when its header has ended and its body is as long as announced`() {
        var answer = ResponseBuilder(maximumBodyBytes: 10)
        #expect(take(["HTTP/2 100 \r\n", "\r\n", "HTTP/2 201 \r\n", "content-length: 2\r\n"], into: &answer))
        #expect(!answer.isWhole)
        #expect(take(["\r\n"], into: &answer))
        #expect(!answer.isWhole)
        for _ in 0..<2 {
            #expect(Array("x".utf8).withUnsafeBytes { answer.take(body: $0) })
        }
        #expect(answer.isWhole)
    }

    @Test func `a 1xx answer is not the whole, even when it says that it has no body`() {
        var answer = ResponseBuilder(maximumBodyBytes: 10)
        #expect(take(["HTTP/1.1 100 Continue\r\n", "Content-Length: 0\r\n", "\r\n"], into: &answer))
        #expect(!answer.isWhole)
        #expect(take(["HTTP/1.1 204 No Content\r\n", "Content-Length: 0\r\n", "\r\n"], into: &answer))
        #expect(answer.isWhole)
    }

    @Test(arguments: [[], ["content-length: \r\n"], ["content-length: x\r\n"], ["content-length: 1\r\n"]])
    func `an answer that does not say how long it is, or says otherwise, is not known to be whole`(lines: [String]) {
        var answer = ResponseBuilder(maximumBodyBytes: 10)
        #expect(take(["HTTP/2 200 \r\n"] + lines + ["\r\n"], into: &answer))
        #expect(!answer.isWhole)
    }

    @Test(arguments: [0, 100, 103, 199, -1, 1000])
    func `a status that ends no exchange is an error`(status: Int) {
        #expect(throws: TransportError.self) { try ResponseBuilder(maximumBodyBytes: 1).response(status: status) }
    }
}

@Suite struct `A request on its way out` {
    @Test func `fields that carry the message are libcurl's alone`() throws {
        var request = Request(method: .post, authority: "localhost", path: "/")
        for name in ["Host", "Content-Length", "Transfer-Encoding", "Connection", "TE", "Upgrade", "X-Kept"] {
            request.fields[try #require(HTTPField.Name(name))] = "1"
        }
        request.fields[try #require(HTTPField.Name("X-Empty"))] = ""
        let outgoing = try OutgoingRequest(request, allowPlainHTTP: false, userAgent: "me/1")
        #expect(
            outgoing.fieldLines == ["Expect:", "X-Kept: 1", "X-Empty;", "Accept:", "Content-Type:", "User-Agent: me/1"])
    }

    @Test(arguments: [("a\r\nB: c", false), ("a\nb", false), ("a\0b", false), ("a\tb ü", true), ("", true)])
    func `a value that leaves its line is seen`(value: String, isGood: Bool) {
        #expect(OutgoingRequest.isFieldValue(value) == isGood)
    }

    @Test func `a user agent that leaves its line is refused`() {
        #expect(throws: TransportError.self) {
            try OutgoingRequest(
                Request(method: .get, authority: "localhost", path: "/"), allowPlainHTTP: false, userAgent: "a\r\nb: c")
        }
    }
}
