// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Push
import Testing
import Text

private let secret = "s3cret+value"

private func endpoint() throws -> TokenEndpoint {
    TokenEndpoint(try #require(ServiceURL("https://tokens.example/token")), secrets: [Secret(secret)])
}

private func answer(_ status: Int, _ body: String) -> Result<Response, any Error> {
    .success(Response(status: .init(code: status), body: Array(body.utf8)))
}

@Suite struct `A token endpoint` {
    @Test func `is sent a form`() throws {
        let request = try endpoint().request(["grant_type": "client_credentials", "client_secret": "a+b/c d&e=f"])
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == "grant_type=client_credentials&client_secret=a%2Bb%2Fc%20d%26e%3Df")
        #expect(request.fields[.contentType] == "application/x-www-form-urlencoded")
        #expect(request.method == .post && request.authority == "tokens.example" && request.path == "/token")
    }

    @Test(arguments: ["3599", #""86399""#])
    func `may write the life of a token as a number or as a text`(lifetime: String) throws {
        let token = try endpoint().token(in: answer(200, #"{"access_token":"abc","expires_in":\#(lifetime)}"#)).get()
        #expect(token.text.reveal() == "abc" && [3599, 86_399].contains(token.lifetime))
    }

    @Test(arguments: [
        "{}", "[]", #"{"access_token":"","expires_in":5}"#, #"{"access_token":"a b","expires_in":5}"#,
        #"{"access_token":"a\r\nX: y","expires_in":5}"#, #"{"access_token":"a","expires_in":0}"#,
        #"{"access_token":"a","expires_in":"soon"}"#, #"{"access_token":"a"}"#,
    ])
    func `gives no token where there is none that can be sent`(body: String) throws {
        let error = CredentialError.refused(reason: "the token service's answer has no access token in it")
        #expect(throws: error) { try endpoint().token(in: answer(200, body)).get() }
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func `may be asked again after a failure of its own`(status: Int) throws {
        let error = CredentialError.unanswered(reason: "the token service is out of order (HTTP \(status))")
        #expect(throws: error) { try endpoint().token(in: answer(status, "<html>")).get() }
        let body = #"{"error":"temporarily_unavailable"}"#
        #expect(throws: CredentialError.unanswered(reason: "the token service is out of order (HTTP 400)")) {
            try endpoint().token(in: answer(400, body)).get()
        }
    }

    @Test func `may be asked again when it did not answer, but not where it may not be called`() throws {
        #expect(throws: CredentialError.unanswered(reason: "the token service does not answer (failed)")) {
            try endpoint().token(in: .failure(Unreachable())).get()
        }
        #expect(throws: CredentialError.refused(reason: "the token service cannot be called (failed)")) {
            try endpoint().token(in: .failure(Unreachable(isPermanent: true))).get()
        }
    }

    @Test func `is named when it is not trusted, with what is to be changed`() throws {
        let failure = Unreachable(fault: .missingTrust)
        let result = try endpoint().token(in: .failure(failure))
        guard case .failure(.unanswered(let reason, .missingTrust)) = result else {
            Issue.record("a fault of the connection expected")
            return
        }
        #expect(reason.hasPrefix("the token service is not trusted: ") && reason.contains("ca-certificates"))
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_client","error_description":"Unknown client."}"#, "invalid_client: Unknown client."),
        (401, #"{"error":"invalid_client"}"#, "invalid_client"),
        (403, #"{"error":{"status":"PERMISSION_DENIED","message":"No."}}"#, "PERMISSION_DENIED: No."),
        (404, "not here", "HTTP 404"), (302, "", "HTTP 302"),
        (400, #"{"error":"invalid_client","error_description":"s3cret+value is wrong"}"#, "invalid_client"),
        (400, #"{"error":"x","error_description":"a\nb\u0000c \u00e9"}"#, "x: a b c"),
    ])
    func `says why it refuses, and never the secret`(status: Int, body: String, words: String) throws {
        let error = CredentialError.refused(reason: "the token service refuses the credential: \(words)")
        #expect(throws: error) { try endpoint().token(in: answer(status, body)).get() }
    }

    @Test func `is quoted in one line of bounded length, without what may be a token`() throws {
        let long = try #require(ServiceSentence(String(repeating: "word ", count: 1000)))
        #expect(long.text.count == ServiceSentence.maximumLength + 1)
        #expect(ServiceSentence("token \(String(repeating: "x", count: 200)) refused")?.text == "token … refused")
        #expect(ServiceSentence(" \n ") == nil)
    }
}

@Suite struct `The address of a service` {
    @Test(arguments: [
        ("https://a.example/x?y=%2f", "https", "a.example", "/x", "y=%2f"),
        ("http://A.example", "http", "a.example", "/", ""),
        ("https://a.example:8443?x", "https", "a.example:8443", "/", "x"),
        ("https://[::1]:1/", "https", "[::1]:1", "/", ""),
    ])
    func `is taken apart and not rewritten`(
        text: String, scheme: String, authority: String, path: String, query: String
    ) throws {
        let url = try #require(ServiceURL(text))
        #expect(url.scheme == scheme && url.authority.description == authority)
        #expect(url.path == path && url.query == query)
    }

    @Test(arguments: [
        "", "ftp://a/", "https://", "https://a b/", "https://a@b/", "https://a/#b", "//a/", "https://a:0/",
        "a/x", "https:///x", "https://a:1:2/x",
    ])
    func `is a URL of HTTP`(text: String) {
        #expect(ServiceURL(text) == nil)
    }

    @Test(arguments: [
        ("https://x.googleapis.com/", true), ("https://x.googleapis.com:443/", true),
        ("https://googleapis.com/", false),
        ("https://evilgoogleapis.com/", false), ("http://x.googleapis.com/", false),
        ("https://x.googleapis.com:444/", false),
        ("https://x.googleapis.com.evil.example/", false), ("https://x.googleapis.com./", false),
    ])
    func `is below a domain or not`(text: String, isBelow: Bool) throws {
        #expect(try #require(ServiceURL(text)).isBelow("googleapis.com") == isBelow)
    }
}
