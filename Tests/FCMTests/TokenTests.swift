// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import HTTP
import HTTPTypes
import JSON
import Push
import Testing
import Text

import class System.Lock

@testable import FCM

/// 2027-01-15T08:00:00Z.
private let noon: Int64 = 1_800_000_000
private let granted = #"{"access_token":"ya29.abc","expires_in":3599,"token_type":"Bearer"}"#

private func fetch(
    _ text: [UInt8], _ sender: ScriptedSender, readFile: @escaping @Sendable (String) -> [UInt8]? = { _ in nil }
) throws -> AccessToken {
    let found = Lock<Result<AccessToken, CredentialError>?>(nil)
    try GoogleCredential(text).tokenSource(readFile: readFile, now: { noon }).fetch(by: sender) { result in
        found.withLock { $0 = result }
    }
    let result = found.withLock { $0 }
    return try #require(result).get()
}

private func form(_ request: Request) throws -> Query { try Query(String(decoding: request.body, as: UTF8.self)) }

@Suite struct `A service account` {
    @Test func `shows a signed assertion, good for an hour`() throws {
        let sender = ScriptedSender((200, granted))
        let token = try fetch(Keys.serviceAccount(), sender)
        #expect(token.text.reveal() == "ya29.abc" && token.lifetime == 3599)
        let request = try #require(sender.requests.first)
        #expect(request.scheme == "https" && request.authority == "oauth2.googleapis.com" && request.path == "/token")
        let form = try form(request)
        #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
        let parts = try #require(form["assertion"]).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try JSONValue(parsing: #require(Base64.url.decode(parts[0])))
        #expect(header["alg"]?.string == "RS256" && header["kid"]?.string == "key-1")
        let claims = try JSONValue(parsing: #require(Base64.url.decode(parts[1])))
        #expect(claims["iss"]?.string == "push@app-1.iam.gserviceaccount.com")
        #expect(claims["aud"]?.string == "https://oauth2.googleapis.com/token")
        #expect(claims["scope"]?.string == "https://www.googleapis.com/auth/firebase.messaging")
        #expect(claims["iat"]?.integer == Int(noon) && claims["exp"]?.integer == Int(noon) + 3600)
        let signature = try #require(Base64.url.decode(parts[2]))
        let digest = SHA256.hash(data: Array("\(parts[0]).\(parts[1])".utf8))
        let key = try #require(Keys.rsa).publicKey
        #expect(
            key.isValidSignature(.init(rawRepresentation: signature), for: digest, padding: .insecurePKCS1v1_5))
    }

    @Test func `whose assertion is refused says why`() throws {
        let words = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
        let sender = ScriptedSender((400, #"{"error":"invalid_grant","error_description":"\#(words)"}"#))
        let reason = "the token service refuses the credential: invalid_grant: \(words)"
        #expect(throws: CredentialError.refused(reason: reason)) { try fetch(Keys.serviceAccount(), sender) }
    }
}

@Suite struct `An external account` {
    private let file: JSONValue = .object([.init("file", .string("/run/token"))])
    private let subjectToken: @Sendable (String) -> [UInt8]? = {
        $0 == "/run/token" ? Array("subject.token\n".utf8) : nil
    }

    @Test func `exchanges the token of a file`() throws {
        let sender = ScriptedSender((200, granted))
        let token = try fetch(Keys.externalAccount(source: file), sender, readFile: subjectToken)
        #expect(token.text.reveal() == "ya29.abc")
        let request = try #require(sender.requests.first)
        #expect(request.authority == "sts.googleapis.com" && request.path == "/v1/token")
        let form = try form(request)
        #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange")
        #expect(form["audience"] == "//iam.googleapis.com/projects/1/p")
        #expect(form["scope"] == "https://www.googleapis.com/auth/firebase.messaging")
        #expect(form["requested_token_type"] == "urn:ietf:params:oauth:token-type:access_token")
        #expect(form["subject_token"] == "subject.token")
        #expect(form["subject_token_type"] == "urn:ietf:params:oauth:token-type:jwt")
    }

    @Test func `takes a token out of the JSON of a URL, which is asked with its headers`() throws {
        let source = JSONValue.object([
            .init("url", .string("http://169.254.169.254/metadata?api-version=1")),
            .init("headers", .object([.init("Metadata", .string("True"))])),
            .init(
                "format",
                .object([
                    .init("type", .string("json")), .init("subject_token_field_name", .string("access_token")),
                ])),
        ])
        let sender = ScriptedSender((200, #"{"access_token":"subject.token"}"#), (200, granted))
        _ = try fetch(Keys.externalAccount(source: source), sender)
        let request = try #require(sender.requests.first)
        #expect(request.method == .get && request.scheme == "http" && request.authority == "169.254.169.254")
        #expect(request.target == "/metadata?api-version=1")
        #expect(request.fields.first { $0.name.canonicalName == "metadata" }?.value == "True")
        #expect(try form(#require(sender.requests.last))["subject_token"] == "subject.token")
    }

    @Test func `takes on a service account where its file says so`() throws {
        let sender = ScriptedSender(
            (200, granted), (200, #"{"accessToken":"ya29.impersonated","expireTime":"2027-01-15T08:30:00.123456789Z"}"#)
        )
        let file = Keys.externalAccount(
            source: file,
            [
                "service_account_impersonation_url": .string(
                    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken"),
                "service_account_impersonation": .object([.init("token_lifetime_seconds", .number("1800"))]),
            ])
        let token = try fetch(file, sender, readFile: subjectToken)
        #expect(token.text.reveal() == "ya29.impersonated" && token.lifetime == 1800)
        #expect(try form(sender.requests[0])["scope"] == "https://www.googleapis.com/auth/iam")
        let request = sender.requests[1]
        #expect(request.authority == "iamcredentials.googleapis.com")
        #expect(request.path == "/v1/projects/-/serviceAccounts/a@b:generateAccessToken")
        #expect(request.fields[.authorization] == "Bearer ya29.abc")
        let body = #"{"scope":["https://www.googleapis.com/auth/firebase.messaging"],"lifetime":"1800s"}"#
        #expect(String(decoding: request.body, as: UTF8.self) == body)
    }

    @Test func `says at which step it was refused`() throws {
        #expect(throws: CredentialError.refused(reason: "the file of the subject token cannot be read")) {
            try fetch(Keys.externalAccount(source: file), ScriptedSender())
        }
        #expect(throws: CredentialError.refused(reason: "there is no subject token in what its source gives")) {
            try fetch(Keys.externalAccount(source: file), ScriptedSender()) { _ in Array("two words".utf8) }
        }
        let source = JSONValue.object([.init("url", .string("https://id.example/"))])
        #expect(throws: CredentialError.refused(reason: "the source of the subject token answers HTTP 403")) {
            try fetch(Keys.externalAccount(source: source), ScriptedSender((403, "")))
        }
        #expect(throws: CredentialError.unanswered(reason: "the source of the subject token answers HTTP 503")) {
            try fetch(Keys.externalAccount(source: source), ScriptedSender((503, "")))
        }
    }

    @Test func `is not quoted where the answer repeats its token`() throws {
        let answer = #"{"error":"invalid_grant","error_description":"bad subject.token"}"#
        #expect(throws: CredentialError.refused(reason: "the token service refuses the credential: invalid_grant")) {
            try fetch(Keys.externalAccount(source: file), ScriptedSender((400, answer)), readFile: subjectToken)
        }
    }

    @Test(arguments: [
        "{}", #"{"accessToken":"a","expireTime":"2027-01-15T07:59:59Z"}"#, #"{"accessToken":"a","expireTime":"soon"}"#,
    ])
    func `takes no token that has ended or says no end`(answer: String) throws {
        let file = Keys.externalAccount(
            source: file, ["service_account_impersonation_url": .string("https://iamcredentials.googleapis.com/v1/x")])
        let sender = ScriptedSender((200, granted), (200, answer))
        #expect(throws: CredentialError.refused(reason: "the token service's answer has no access token in it")) {
            try fetch(file, sender, readFile: subjectToken)
        }
    }
}

@Suite struct `The metadata server` {
    @Test func `is asked by plain HTTP, with the field that it wants`() throws {
        let sender = ScriptedSender((200, granted))
        #expect(
            try fetch(Array(#"{"type":"metadata_server","project_id":"p"}"#.utf8), sender).text.reveal() == "ya29.abc")
        let request = try #require(sender.requests.first)
        #expect(request.scheme == "http" && request.authority == "metadata.google.internal" && request.method == .get)
        #expect(request.path == "/computeMetadata/v1/instance/service-accounts/default/token")
        #expect(request.fields.first?.name.rawName == "Metadata-Flavor" && request.fields.first?.value == "Google")
    }
}
