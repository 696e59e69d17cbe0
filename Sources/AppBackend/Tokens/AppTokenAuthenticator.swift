// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Store
import System
import Text

/// App tokens: `Authorization: Bearer abt_…`, or Basic with the user's name and the token as password, which apps send
/// that know nothing else.
struct AppTokenAuthenticator: Authenticator {
    /// A use so soon after the one that was noted last is not noted, in seconds: each costs a line in the store.
    static let usePauseSeconds: Int64 = 3_600

    let store: any StateStore
    let users: any PasswordAuthenticator
    /// Counts wrong tokens by network.
    let throttle: LoginThrottle
    let now: @Sendable () -> Timestamp
    let clock: MonotonicClock

    /// - Throws: `Problem` 429; `StoreError`.
    func authenticate(_ request: Request) throws -> Authentication {
        guard let shown = Shown(request.fields) else { return .notMine }
        let time = now()
        guard let text = shown.text, let token = try store.appToken(text.id, now: time),
            text.hash == Secret(token.hash), let user = try users.account(ofOwner: token.owner)?.principal,
            user.record?.credentialEpoch ?? 0 == token.epoch, shown.isOf(user)
        else { return try refuse(request) }
        noteUse(of: token, time)
        return .principal(user.authenticated(by: .token, scope: try scope(of: token)))
    }

    /// What the token may do. The recipients of one that an earlier version has made are those who have the names at its first use.
    private func scope(of token: AppToken) throws(StoreError) -> Scope {
        var scope = Scope(actions: Set(token.scopes.compactMap(Scope.Action.init(rawValue:))))
        guard let names = token.recipients else { return scope }
        var owners = token.recipientOwners
        if owners.count != names.count {
            owners = try store.owners(ofNames: names)
            // A request must not fail because this cannot be kept: the next one keeps it.
            try? store.bindRecipients(ofAppToken: token.id, to: owners)
        }
        scope.recipients = NamedOwners(names, owners)
        return scope
    }

    /// There is nothing to guess in 256 random bits, so a right token passes whatever came before it: no device loses its
    /// access because another one behind the same address shows a token that has ended.
    private func refuse(_ request: Request) throws(Problem) -> Authentication {
        let network = ClientNetwork(request.remoteAddress ?? "")
        switch throttle.admit(name: "", network: network, now: clock().seconds) {
        case .admitted: throttle.recordResult(name: "", network: network, isFailure: true)
        case .refused(let seconds):
            throw Problem(.tooManyFailedLogIns, "Too many wrong app tokens.", retryAfter: seconds)
        case .busy: break
        }
        return .wrongAppToken
    }

    /// A request must not fail because it cannot be noted.
    private func noteUse(of token: AppToken, _ time: Timestamp) {
        let last = token.lastUsedAt ?? Timestamp(seconds: .min)
        // A clock that was set back must not keep a later time for good.
        guard last + Self.usePauseSeconds <= time || last > time else { return }
        try? store.noteUse(ofAppToken: token.id, at: time)
    }
}

/// A token as a request brings it.
private struct Shown {
    /// Nil: it begins as one and is not one.
    let text: AppTokenText?
    /// Of Basic credentials.
    let name: String?

    /// Nil, when there is nothing of the kind.
    init?(_ fields: HTTPFields) {
        if let bearer = fields.authorization("bearer") {
            guard bearer.starts(with: AppTokenText.prefix.utf8) else { return nil }
            (text, name) = (AppTokenText(String(Substring(bearer))), nil)
        } else {
            guard let credentials = BasicCredentials(fields: fields), credentials.isAppToken else { return nil }
            (text, name) = (AppTokenText(credentials.password), credentials.name)
        }
    }

    func isOf(_ user: Principal) -> Bool {
        name.map { UserName($0)?.description.hasSameBytes(as: user.name) ?? false } ?? true
    }
}

extension BasicCredentials {
    /// Whether the password has the form of an app token. Then it is no password: it is hashed for no user, and counts
    /// against none.
    var isAppToken: Bool { AppTokenText(password) != nil }
}

/// The header field `apikey`, in which apps of the tutorial for .NET MAUI show their key: an app token.
enum APIKey {
    static let field = "apikey"
    /// The routes of that tutorial. Elsewhere the field says nothing.
    static let routes: Set<String> = [Path.installations, Path.installations + "/{id}", Path.requests]

    /// Whether the request has no key, or one without a quotation mark, which no app token has.
    static func isReadable(_ request: Request) -> Bool {
        request.fields[named: field].map { !$0.utf8.contains(UInt8(ascii: "\"")) } ?? true
    }
}

extension Request {
    /// The same request with its key in `Authorization`, where an app token belongs. Beside `Authorization` a key says nothing.
    /// A key that is no app token is a wrong one, and never a token of an issuer.
    /// - Parameter route: the pattern of the request's route.
    func withAPIKey(at route: String?) -> Request {
        guard !fields.contains(.authorization), let route, APIKey.routes.contains(route),
            let key = fields[named: APIKey.field], !key.isEmpty
        else { return self }
        var request = self
        let isToken = key.utf8.starts(with: AppTokenText.prefix.utf8)
        request.fields[.authorization] = "Bearer " + (isToken ? key : AppTokenText.prefix)
        return request
    }
}
