// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import JWT
import Testing

@Suite struct `The discovery of keys` {
    private static let key = IssuerKey.p256("1")

    private static func judge(_ issuer: String, _ documents: [String: Response]) throws -> (String, [String]) {
        let sender = AnsweringSender {
            documents[$0.scheme + "://" + $0.authority + $0.path] ?? Response(status: .notFound)
        }
        let source = DiscoveredKeys(issuer: issuer, sender: sender) { address in
            guard address.hasPrefix("https://"), let slash = address.dropFirst(8).firstIndex(of: "/") else {
                return nil
            }
            return Request(
                method: .get, authority: String(address[..<slash].dropFirst(8)), path: String(address[slash...]))
        }
        let bench = Bench([(try Bench.issuer(issuer), source)])
        return (bench.judge(try key.token(["iss": "\"\(issuer)\""])), bench.reported)
    }

    private static func json(_ text: String) -> Response { .json(Array(text.utf8)) }

    @Test(arguments: ["https://idp.example/realms/r", "https://idp.example/"])
    func `the issuer's own document names the address of its keys`(issuer: String) throws {
        let place = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let (judged, reported) = try Self.judge(
            issuer,
            [
                place + "/.well-known/openid-configuration": Self.json(
                    #"{"issuer":"\#(issuer)","jwks_uri":"https://keys.example/k"}"#),
                "https://keys.example/k": Self.json(ScriptedSource.set([try Self.key.jwk()])),
            ])
        #expect(judged == "test.alice" && reported == [])
    }

    static let documents: [(String, KeyError)] = [
        (#"{"issuer":"https://idp.example/","jwks_uri":"https://keys.example/k"}"#, .foreignIssuer),
        (#"{"issuer":"https://idp.example","jwks_uri":"http://keys.example/k"}"#, .badKeyAddress),
        (#"{"issuer":"https://idp.example"}"#, .notADiscoveryDocument), ("<html>", .notADiscoveryDocument),
        (#"{"issuer":"https://idp.example","jwks_uri":"https://keys.example/none"}"#, .status(404)),
        (String(repeating: " ", count: 256 * 1_024 + 1), .tooLarge),
    ]

    @Test(arguments: documents) func `a document that is not the issuer's is refused`(
        text: String, error: KeyError
    ) throws {
        let (judged, reported) = try Self.judge(
            "https://idp.example", ["https://idp.example/.well-known/openid-configuration": Self.json(text)])
        #expect(judged == "pending" && reported == ["https://idp.example: \(error)"])
    }
}
