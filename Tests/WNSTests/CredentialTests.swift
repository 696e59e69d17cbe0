// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Push
import Testing
import Text
import WNS

import class System.Lock

private let sid = "s-1-15-2-1004590375-3871893421-2130870303-2098374-1-2-3"
private let secret = Secret("p+q/r=s&t")

/// Answers one request, and keeps it.
private final class TokenService: RequestSender {
    let seen = Lock<[Request]>([])
    let answer: (Int, String)

    init(_ status: Int, _ body: String) {
        answer = (status, body)
    }

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        seen.withLock { $0.append(request) }
        completion(.success(Response(status: .init(code: answer.0), body: Array(answer.1.utf8))))
    }
}

private func fetch(_ credential: WNSCredential, _ service: TokenService) throws -> (AccessToken, Request, Query) {
    let found = Lock<Result<AccessToken, CredentialError>?>(nil)
    credential.tokenSource.fetch(by: service) { result in found.withLock { $0 = result } }
    let result = found.withLock { $0 }
    let request = try #require(service.seen.withLock { $0 }.first)
    return (try #require(result).get(), request, try Query(String(decoding: request.body, as: UTF8.self)))
}

@Suite struct `A credential for WNS` {
    @Test(arguments: ["ms-app://" + sid, sid])
    func `of the Partner Center signs in at login live com`(packageSID: String) throws {
        let credential = try WNSCredential.partnerCenter(packageSID: packageSID, secret: secret)
        let service = TokenService(200, #"{"access_token":"EgAc","token_type":"bearer","expires_in":86400}"#)
        let (token, request, form) = try fetch(credential, service)
        #expect(token.text.reveal() == "EgAc" && token.lifetime == 86_400)
        #expect(
            request.scheme == "https" && request.authority == "login.live.com" && request.path == "/accesstoken.srf")
        #expect(form["grant_type"] == "client_credentials" && form["client_id"] == "ms-app://" + sid)
        #expect(form["client_secret"] == secret.reveal() && form["scope"] == "notify.windows.com")
        #expect(!"\(credential)".contains("p+q") && !String(reflecting: credential).contains("p+q"))
    }

    @Test func `of Entra signs in at its tenant`() throws {
        let credential = try WNSCredential.entra(
            clientID: "5d5f3a2c-0000-4000-8000-1234567890ab", tenant: "example.onmicrosoft.com", secret: secret)
        let service = TokenService(200, #"{"token_type":"Bearer","expires_in":"86399","access_token":"eyJ0"}"#)
        let (token, request, form) = try fetch(credential, service)
        #expect(token.text.reveal() == "eyJ0" && token.lifetime == 86_399)
        #expect(request.authority == "login.microsoftonline.com")
        #expect(request.path == "/example.onmicrosoft.com/oauth2/v2.0/token")
        #expect(form["client_id"] == "5d5f3a2c-0000-4000-8000-1234567890ab")
        #expect(form["scope"] == "https://wns.windows.com/.default" && form["client_secret"] == secret.reveal())
    }

    @Test func `may sign in elsewhere, by https alone`() throws {
        let credential = try WNSCredential.entra(
            clientID: "a", tenant: "b", secret: secret, endpoint: "https://localhost:9443/token")
        let (_, request, _) = try fetch(credential, TokenService(200, #"{"access_token":"a","expires_in":5}"#))
        #expect(request.authority == "localhost:9443" && request.path == "/token")
        #expect(throws: WNSCredentialError.self) {
            try WNSCredential.entra(clientID: "a", tenant: "b", secret: secret, endpoint: "http://localhost:9443/token")
        }
    }

    @Test func `that is refused is so for good until the operator corrects it`() throws {
        let credential = try WNSCredential.partnerCenter(packageSID: sid, secret: secret)
        let service = TokenService(
            400, #"{"error":"invalid_client","error_description":"Client authentication failed."}"#)
        let reason = "the token service refuses the credential: invalid_client: Client authentication failed."
        #expect(throws: CredentialError.refused(reason: reason)) { try fetch(credential, service) }
        let echo = TokenService(400, #"{"error":"invalid_client","error_description":"p+q/r=s&t is wrong"}"#)
        #expect(throws: CredentialError.refused(reason: "the token service refuses the credential: invalid_client")) {
            try fetch(credential, echo)
        }
        #expect(throws: CredentialError.unanswered(reason: "the token service is out of order (HTTP 503)")) {
            try fetch(credential, TokenService(503, ""))
        }
    }

    @Test(arguments: ["", "ms-app://", "ms-app://S-1-5-21-1", "s-1-15-2-1\r\n", "https://s-1-15-2-1", "s-1-15-2-x"])
    func `names a package by its security identifier`(packageSID: String) {
        #expect(throws: WNSCredentialError.self) {
            try WNSCredential.partnerCenter(packageSID: packageSID, secret: secret)
        }
    }

    @Test func `has no empty part, and none that would change a URL`() {
        for part in ["", "a/b", "a?b", "a b", "é"] {
            #expect(throws: WNSCredentialError.self) {
                try WNSCredential.entra(clientID: part, tenant: "t", secret: secret)
            }
            #expect(throws: WNSCredentialError.self) {
                try WNSCredential.entra(clientID: "c", tenant: part, secret: secret)
            }
        }
        #expect(throws: WNSCredentialError.self) {
            try WNSCredential.entra(clientID: "c", tenant: "t", secret: Secret(""))
        }
    }
}
