// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import HTTP
import HTTPTypes
import JSON
import JWT
import System
import Testing
import Text

/// A key pair of an issuer of these tests, and what it signs.
struct IssuerKey: Sendable {
    enum Material: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    let id: String?
    let material: Material

    static func rsa(_ id: String?) throws -> IssuerKey {
        IssuerKey(id: id, material: .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048)))
    }

    static func p256(_ id: String?) -> IssuerKey { IssuerKey(id: id, material: .p256(P256.Signing.PrivateKey())) }

    static func ed25519(_ id: String?) -> IssuerKey {
        IssuerKey(id: id, material: .ed25519(Curve25519.Signing.PrivateKey()))
    }

    var algorithm: String {
        switch material {
        case .rsa: "RS256"
        case .p256: "ES256"
        case .ed25519: "EdDSA"
        }
    }

    /// The public key as an issuer publishes it.
    /// - Parameter more: further members, each with a comma in front.
    func jwk(_ more: String = "") throws -> String {
        let id = id.map { #","kid":"\#($0)""# } ?? ""
        switch material {
        case .rsa(let key):
            let parts = try key.publicKey.getKeyPrimitives()
            let (n, e) = (Base64.url.encode(parts.modulus), Base64.url.encode(parts.publicExponent))
            return #"{"kty":"RSA","n":"\#(n)","e":"\#(e)"\#(id)\#(more)}"#
        case .p256(let key):
            let point = Array(key.publicKey.x963Representation.dropFirst())
            let (x, y) = (Base64.url.encode(point.prefix(32)), Base64.url.encode(point.suffix(32)))
            return #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"\#(id)\#(more)}"#
        case .ed25519(let key):
            let x = Base64.url.encode(key.publicKey.rawRepresentation)
            return #"{"kty":"OKP","crv":"Ed25519","x":"\#(x)"\#(id)\#(more)}"#
        }
    }

    func signature(of text: String) throws -> [UInt8] {
        let bytes = Array(text.utf8)
        switch material {
        case .rsa(let key):
            return [UInt8](
                try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        case .p256(let key): return [UInt8](try key.signature(for: SHA256.hash(data: bytes)).rawRepresentation)
        case .ed25519(let key): return [UInt8](try key.signature(for: bytes))
        }
    }

    /// A token with that header and payload, whatever they say.
    func token(header: String, payload: String) throws -> String {
        let signed = Base64.url.encode(header.utf8) + "." + Base64.url.encode(payload.utf8)
        return signed + "." + Base64.url.encode(try signature(of: signed))
    }

    /// A token with these members besides or in place of the usual ones. An empty text takes a member away.
    func token(_ payload: KeyValuePairs<String, String> = [:], header: KeyValuePairs<String, String> = [:]) throws
        -> String
    {
        var headers = ["alg": "\"\(algorithm)\"", "typ": "\"JWT\"", "kid": id.map { "\"\($0)\"" } ?? ""]
        for (name, value) in header { headers[name] = value }
        var members = [
            "iss": "\"https://issuer.example/\"", "aud": "\"backend\"", "sub": "\"alice\"", "exp": "2000", "iat": "900",
        ]
        for (name, value) in payload { members[name] = value }
        return try token(header: Self.object(headers), payload: Self.object(members))
    }

    static func object(_ members: [String: String]) -> String {
        "{" + members.filter { !$0.value.isEmpty }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }
}

/// Keys as a test has them at the moment, and how often they were asked for.
final class ScriptedSource: KeySource {
    struct State {
        var documents: [Result<String, KeyError>] = []
        var fetches = 0
        var isHeld = false
        var held: [@Sendable () -> Void] = []
    }

    private let state: Lock<State>
    private let maximumAge: String?

    /// - Parameters:
    ///   - maximumAge: of `Cache-Control`, in seconds.
    ///   - isHeld: no fetch ends before `release()`.
    init(_ keys: [String], maximumAge: String? = nil, isHeld: Bool = false) {
        state = Lock(State(documents: [.success(Self.set(keys))], isHeld: isHeld))
        self.maximumAge = maximumAge
    }

    static func set(_ keys: [String]) -> String { #"{"keys":["# + keys.joined(separator: ",") + "]}" }

    var fetches: Int { state.withLock { $0.fetches } }

    func publish(_ keys: [String]) { state.withLock { $0.documents = [.success(Self.set(keys))] } }

    func fail(_ error: KeyError) { state.withLock { $0.documents = [.failure(error)] } }

    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            defer { (state.isHeld, state.held) = (false, []) }
            return state.held
        }
        for end in held { end() }
    }

    func fetch(_ completion: @escaping @Sendable (Result<KeyDocument, KeyError>) -> Void) {
        let end: @Sendable () -> Void = { [self] in
            switch state.withLock({ $0.documents.last }) {
            case .failure(let error)?: completion(.failure(error))
            case .success(let text)?:
                let fields: HTTPFields = maximumAge.map { [.cacheControl: "public, max-age=\($0)"] } ?? [:]
                let answer = AnsweringSender { _ in Response(fields: fields, body: Array(text.utf8)) }
                KeyAddress(Request(method: .get, path: "/keys"), sender: answer).fetch(completion)
            case nil: completion(.failure(.unreadableFile))
            }
        }
        let isHeld = state.withLock { state in
            state.fetches += 1
            if state.isHeld { state.held.append(end) }
            return state.isHeld
        }
        if !isHeld { end() }
    }
}

/// Answers each request at once.
struct AnsweringSender: RequestSender {
    let answer: @Sendable (Request) throws -> Response

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        completion(Result { try answer(request) })
    }
}

/// A verifier at 1000 seconds since 1970, whose clocks stand until the test moves them.
final class Bench: Sendable {
    let verifier: TokenVerifier
    private let seconds: Lock<Int64>
    private let passed: Lock<Duration>
    private let reports: Lock<[String]>

    init(_ issuers: [(TrustedIssuer, any KeySource)]) {
        let (seconds, passed, reports) = (Lock<Int64>(1_000), Lock(Duration.zero), Lock<[String]>([]))
        let start = ContinuousClock.now
        (self.seconds, self.passed, self.reports) = (seconds, passed, reports)
        verifier = TokenVerifier(
            issuers, now: { seconds.withLock { $0 } }, clock: { start + passed.withLock { $0 } },
            report: { issuer, event in
                let text =
                    switch event {
                    case .failure(let error): error.description
                    case .skipped(let keys): SkippedKey.text(keys)
                    }
                reports.withLock { $0.append("\(issuer): \(text)") }
            })
    }

    convenience init(
        _ source: any KeySource, audiences: [String] = ["backend"], parties: [String] = [],
        userClaim: String = "sub"
    ) throws {
        self.init([(try Self.issuer(audiences: audiences, parties: parties, userClaim: userClaim), source)])
    }

    static func issuer(
        _ name: String = "https://issuer.example/", prefix: String = "test", audiences: [String] = ["backend"],
        parties: [String] = [], userClaim: String = "sub", rolesClaim: String? = nil, roles: [String] = []
    ) throws -> TrustedIssuer {
        let prefix = try #require(UserPrefix(prefix))
        return try #require(
            TrustedIssuer(
                issuer: name, prefix: prefix, audiences: audiences, authorizedParties: parties, userClaim: userClaim,
                rolesClaim: rolesClaim, roles: roles))
    }

    /// What the operator was told.
    var reported: [String] { reports.withLock(\.self) }

    func pass(_ duration: Duration) {
        passed.withLock { $0 += duration }
        seconds.withLock { $0 += duration.components.seconds }
    }

    func setTime(_ time: Int64) { seconds.withLock { $0 = time } }

    /// In words: the user, or why there is none.
    func judge(_ token: String) -> String {
        do throws(TokenError) {
            switch try verifier.verify(token[...]) {
            case .verified(let user, let roles): return ([user] + roles).joined(separator: " ")
            case .pending: return "pending"
            case .unavailable(let seconds): return "unavailable \(seconds)"
            case .keyUnknownYet(let seconds): return "unknown yet \(seconds)"
            }
        } catch {
            return "\(error)"
        }
    }
}
