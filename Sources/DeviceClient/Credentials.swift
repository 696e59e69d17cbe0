// SPDX-License-Identifier: Apache-2.0
import JSON
import Text

/// What an app shows in a user's name: their name and password, an app token, or a token of an identity provider. It leaves only
/// as a header field, and prints as `***`.
///
/// Each is sent with every call, so an endpoint is `https`. `KeychainStorage` keeps what does not change.
public struct Credentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Why a text cannot be (of) credentials.
    public enum Malformed: Error, Equatable, Sendable {
        /// The name is empty, and names no user.
        case emptyUser
        /// The name has a colon, where HTTP Basic ends it (RFC 7617 section 2).
        case colonInUser
        /// A control character, which RFC 7617 section 2 forbids in both.
        case controlCharacter
        /// A token is one word of letters, digits and `-._~+/`, with `=` at its end (RFC 6750 section 2.1).
        case notAToken
    }

    /// Gives a token that is valid now.
    /// - Parameter isRefused: whether the backend has just refused the token that was given last, so that one that is kept
    ///   is no good.
    public typealias TokenProvider = @Sendable (_ isRefused: Bool) async throws -> String

    private enum Kind {
        case password(user: String, Secret)
        case token(Secret)
        case provider(TokenProvider)
    }

    private let kind: Kind

    /// A user's name and password.
    /// - Throws: `Malformed`, at once and before anything is sent.
    public init(user: String, password: String) throws(Malformed) {
        guard !user.isEmpty else { throw .emptyUser }
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw .colonInUser }
        guard !(user + password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw .controlCharacter }
        kind = .password(user: user, Secret(password))
    }

    /// An app token, `abt_…`, or another token that stays the same.
    /// - Throws: `Malformed.notAToken`.
    public init(token: String) throws(Malformed) {
        guard Self.isToken(token) else { throw .notAToken }
        kind = .token(Secret(token))
    }

    /// Tokens of an identity provider, as its SDK gives them.
    /// - Parameter provider: asked before each call, so it keeps a token as long as that is valid; and once more in a call that
    ///   was answered 401. What it throws ends the call as `DeviceClientError.noToken`.
    public init(provider: @escaping TokenProvider) {
        kind = .provider(provider)
    }

    /// The name of HTTP Basic, which ends at no colon; nil of tokens, which name their user by themselves.
    public var user: String? {
        if case .password(let user, _) = kind { user } else { nil }
    }

    /// Whether there may be others after a refusal.
    var isRenewable: Bool {
        if case .provider = kind { true } else { false }
    }

    /// The value of the `Authorization` header field. It holds the secret, so it must not be logged.
    /// - Throws: `noToken` or `cancelled`, as the provider has thrown.
    package func authorization(isRefused: Bool = false) async throws(DeviceClientError) -> String {
        switch kind {
        case .password(let user, let password):
            "Basic " + Base64.standard.encode("\(user):\(password.reveal())".utf8)
        case .token(let token): "Bearer " + token.reveal()
        case .provider(let provider): "Bearer " + (try await Self.token(of: provider, isRefused))
        }
    }

    private static func token(of provider: TokenProvider, _ isRefused: Bool) async throws(DeviceClientError) -> String {
        let token: String
        do {
            token = try await provider(isRefused)
        } catch is CancellationError {
            throw .cancelled
        } catch {
            // The type alone: the text of an identity provider's error may hold a token.
            throw .noToken(reason: "\(type(of: error))")
        }
        guard isToken(token) else { throw .noToken(reason: "What the provider gave is not a token.") }
        return token
    }

    private static func isToken(_ text: String) -> Bool {
        let word = text.utf8.prefix { ASCII.isAlphanumeric($0) || "-._~+/".utf8.contains($0) }
        return !word.isEmpty && text.utf8[word.endIndex...].allSatisfy { $0 == UInt8(ascii: "=") }
    }

    /// Always `***`.
    public var description: String { "***" }
    /// Always `***`.
    public var debugDescription: String { "***" }
    /// Empty, so that `dump` shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - As a keychain keeps them

extension Credentials {
    private enum Member: String {
        case user = "User"
        case password = "Password"
        case token = "Token"
    }

    /// The secret in JSON, for a keychain alone; nil of a provider, which is code.
    package var secretJSON: [UInt8]? {
        switch kind {
        case .provider: nil
        case .password(let user, let password):
            JSONWriter.object { json in
                json.member(Member.user.rawValue, user)
                json.member(Member.password.rawValue, password.reveal())
            }.bytes
        case .token(let token): JSONWriter.object { $0.member(Member.token.rawValue, token.reveal()) }.bytes
        }
    }

    /// Nil for anything that `secretJSON` would not have written.
    package init?(secretJSON: [UInt8]) {
        guard let document = try? JSONValue(parsing: secretJSON) else { return nil }
        if let token = document[Member.token.rawValue]?.string {
            guard let credentials = try? Credentials(token: token) else { return nil }
            self = credentials
        } else {
            guard let user = document[Member.user.rawValue]?.string,
                let password = document[Member.password.rawValue]?.string,
                let credentials = try? Credentials(user: user, password: password)
            else { return nil }
            self = credentials
        }
    }
}
