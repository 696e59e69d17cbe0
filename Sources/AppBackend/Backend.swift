// SPDX-License-Identifier: Apache-2.0
package import DeviceAPI
package import HTTP
package import HTTPTypes
package import JWT
package import Logging
import NotificationHub
package import Store
package import Text

/// The tutorial's backend: every request in, an answer out, whatever happens.
package struct Backend: Responder {
    /// What the backend is made of; nothing of it is global.
    package struct Parts: Sendable {
        package var store: any StateStore
        package var notifications: Notifications
        /// Knows the users and their passwords.
        package var authenticator: any PasswordAuthenticator
        /// Counts wrong app tokens.
        package var tokenThrottle = LoginThrottle()
        /// How requests are authenticated, in this order.
        package var authenticationMethods: [AuthenticationMethod] = [.password, .token, .session]
        /// Verifies tokens of issuers; nil where no issuer is trusted.
        package var issuers: TokenVerifier?
        package var policy: TagPolicy
        /// The apps that devices may name.
        package var apps = AppPolicy()
        /// The other sites whose pages may call the API.
        package var foreignOrigins = ForeignOrigins()
        /// For how long a secure notification waits for its owner, in seconds.
        package var retentionSeconds: Int64
        /// For how long plain messages are kept for the inbox, in seconds; 0: they are not.
        package var plainSeconds: Int64 = 0
        package var realm: String
        /// How long a log-in by cookie lasts, in seconds.
        package var sessionSeconds: Int64
        /// What one user may do, and what each has done so far.
        package var limits = UserLimits()
        package var meter = UserMeter()
        /// How long a registration waits for others of the same handle, in seconds; then it is answered 503.
        package var registrationWaitSeconds = 10
        package var publicConfiguration: PublicConfiguration
        /// Of the program, as `/health` tells it to this host.
        package var version: String
        package var now: @Sendable () -> Timestamp
        package var load: @Sendable () -> HealthController.Load
        /// The ways to devices whose messages wait for a credential, for `/health`.
        package var waiting: @Sendable () -> [HealthController.WaitingChannel] = { [] }
        /// What the site knows of itself, for administrators.
        package var status: @Sendable () -> SiteStatus = { SiteStatus() }
        /// Answers `GET /metrics` for callers of this host; nil: there is nothing at that path.
        package var metrics: (any Responder)?
        package var logger: Logger

        package init(
            store: any StateStore, notifications: Notifications, authenticator: any PasswordAuthenticator,
            policy: TagPolicy = TagPolicy(), retentionSeconds: Int64 = 30 * 86_400, realm: String = "AppBackend",
            sessionSeconds: Int64 = 7 * 86_400, publicConfiguration: PublicConfiguration = PublicConfiguration(),
            version: String = "", now: @escaping @Sendable () -> Timestamp,
            load: @escaping @Sendable () -> HealthController.Load = { HealthController.Load() },
            metrics: (any Responder)? = nil, logger: Logger
        ) {
            self.store = store
            self.notifications = notifications
            self.authenticator = authenticator
            self.policy = policy
            self.retentionSeconds = retentionSeconds
            self.realm = realm
            self.sessionSeconds = sessionSeconds
            self.publicConfiguration = publicConfiguration
            self.version = version
            self.now = now
            self.load = load
            self.metrics = metrics
            self.logger = logger
        }
    }

    /// Before authentication, for a monitor has no credentials.
    private let monitors: [String: LoopbackOnly]
    /// The routes that need no credentials.
    private let open: Router<RequestAction>
    private let api: AuthenticationHandler
    private let userRoutes: Router<UserAction>
    private let foreignOrigins: ForeignOrigins
    private let logger: Logger

    package init(_ parts: Parts) {
        let users: any PasswordAuthenticator =
            parts.issuers.map { IssuerUsers(inner: parts.authenticator, store: parts.store, verifier: $0) }
            ?? parts.authenticator
        let register = RegisterController(
            store: parts.store, notifications: parts.notifications, policy: parts.policy, apps: parts.apps,
            authenticator: users, now: parts.now,
            registrationLock: KeyedLock(seconds: parts.registrationWaitSeconds))
        let notifications = NotificationsController(
            store: parts.store, notifications: parts.notifications,
            delivering: parts.publicConfiguration.deliveringPlatforms, policy: parts.policy, issuers: parts.issuers,
            retentionSeconds: parts.retentionSeconds, plainSeconds: parts.plainSeconds, now: parts.now,
            logger: parts.logger)
        let inbox = InboxController(store: parts.store, now: parts.now)
        let health = LoopbackOnly(
            inner: HealthController(
                store: parts.store, version: parts.version, load: parts.load, waiting: parts.waiting))
        monitors = [Path.health: health].merging(parts.metrics.map { [Path.metrics: LoopbackOnly(inner: $0)] } ?? [:]) {
            $1
        }
        let sessions = Sessions(
            store: parts.store, authenticator: parts.authenticator, lifetime: parts.sessionSeconds, now: parts.now)
        let methods = parts.authenticationMethods
        let challenge = Challenge(realm: parts.realm, methods: methods)
        let session = SessionController(
            sessions: sessions, authenticator: parts.authenticator,
            takesPasswords: methods.contains(.password) || methods.contains(.test), challenge: challenge,
            policy: parts.policy)
        let config = ConfigController(
            parts.publicConfiguration, platforms: parts.notifications.platforms, realm: parts.realm,
            isSecureOnly: parts.policy.isSecureOnly)
        open = Router((methods.contains(.session) ? session.routes : []) + config.routes)
        // No token that the tutorial's test would let a stranger make is good after the change to real users.
        let tokens = methods.contains(.token) ? TokenController(store: parts.store, now: parts.now).routes : []
        let own = methods.contains(.session) ? SessionListController(sessions: sessions).routes : []
        let password = PasswordController(
            store: parts.store, sessions: sessions, takesPasswords: methods.contains(.password))
        userRoutes = Router(
            register.routes + notifications.routes + inbox.routes + tokens + own + password.routes
                + AdministrationController(parts).routes)
        api = AuthenticationHandler(
            authenticators: methods.compactMap { $0.authenticator(parts, sessions, users) }, challenge: challenge,
            inner: AdministrationHandler(
                policy: parts.policy,
                inner: ScopeHandler(
                    inner: UserLimiter(
                        limits: parts.limits, meter: parts.meter,
                        inner: IdempotencyHandler(
                            store: parts.store, inner: RouteHandler(), now: parts.now, logger: parts.logger)))))
        (foreignOrigins, logger) = (parts.foreignOrigins, parts.logger)
    }

    /// Never throws: what is not foreseen becomes 500 with an id that is also in the log.
    package func respond(to request: Request) -> Response {
        if let monitor = monitors[request.path] {
            return answer(request, route: request.path) { try monitor.respond(to: request) }
        }
        let openRoute = open.match(request)
        // Sessions are for this site's own page.
        if openRoute?.pattern != Path.session, let origin = foreignOrigins.origin(of: request) {
            return respond(to: request, of: origin)
        }
        if let route = openRoute {
            return answer(request, route: route.pattern) { try route.respond(to: request) }
        }
        let route = userRoutes.match(request)
        return answer(request, route: route?.pattern) { try api.respond(to: request, route: route) }
    }

    /// - Parameter origin: of the page that asks.
    private func respond(to request: Request, of origin: String) -> Response {
        if request.method == .options { return ForeignOrigins.preflight(origin) }
        guard !ForeignOrigins.mayHaveAddedPassword(request) else {
            return ForeignOrigins.allowing(ForeignOrigins.unclearPassword.response, origin)
        }
        var response = ForeignOrigins.allowing(respond(to: ForeignOrigins.withoutBrowser(request)), origin)
        if let continuation = response.continuation {
            response.postponement = continuation.then { try ForeignOrigins.allowing($0.get(), origin) }
        }
        return response
    }

    private func answer(_ request: Request, route: String?, _ body: () throws -> Response) -> Response {
        var response: Response
        do {
            response = try body()
        } catch let postponed as Postponed {
            response = Response()
            response.postponement = postponed.postponement
        } catch {
            response = answer(error, to: request)
        }
        response.route = route
        if let continuation = response.continuation {
            response.postponement = continuation.then { outcome in
                answer(request, route: route) { try outcome.get() }
            }
        }
        return response
    }

    /// The answer to a request that never became one: the server in front of the backend could not read it.
    package static func refusal(_ status: HTTPResponse.Status) -> Problem {
        switch status {
        case .contentTooLarge: Problem(status, "The body is longer than this backend takes.", field: "body")
        case .badRequest: Problem(status, "The request cannot be read.")
        case .serviceUnavailable: Problem(status, "Too many requests wait.", retryAfter: 1)
        default: Problem(status, "Something went wrong; the log says more.")
        }
    }

    private func answer(_ error: any Error, to request: Request) -> Response {
        // Logged where it was thrown.
        if let noSideEffects = error as? NoSideEffects { return noSideEffects.response }
        guard let problem = Problem(error: error) else {
            // The type alone: a description could hold what the request held.
            logger.error("defect", metadata: ["request": "\(request.id)", "error": "\(type(of: error))"])
            return Problem(.internalServerError, "Something went wrong; the log has it under \(request.id).").response
        }
        if problem.status.kind == .serverError {
            logger.warning("\(reason(of: error))", metadata: ["request": "\(request.id)"])
        }
        return problem.response
    }

    /// For the operator: these errors name calls, files and codes, never content.
    private func reason(of error: any Error) -> String {
        switch error {
        case let error as StoreError: "store: \(error)"
        case let error as HubError: "hub: \(error)"
        case let error as Problem: error.detail
        default: "\(type(of: error))"
        }
    }
}

extension AuthenticationMethod {
    /// - Parameter users: those of the store, and of issuers.
    /// - Returns: nil for tokens where no issuer is trusted.
    fileprivate func authenticator(
        _ parts: Backend.Parts, _ sessions: Sessions, _ users: any PasswordAuthenticator
    ) -> (any Authenticator)? {
        switch self {
        case .password, .test: BasicAuthenticator(passwords: parts.authenticator, method: self)
        case .token:
            AppTokenAuthenticator(
                store: parts.store, users: parts.authenticator, throttle: parts.tokenThrottle, now: parts.now)
        case .bearer: parts.issuers.map { BearerAuthenticator(verifier: $0, users: users) }
        case .webServer: WebServerAuthenticator(users: parts.authenticator)
        case .session: SessionAuthenticator(sessions: sessions)
        }
    }
}

extension AdministrationController {
    fileprivate init(_ parts: Backend.Parts) {
        let logger = parts.logger
        self.init(
            administration: UserAdministration(
                store: parts.store, roles: parts.policy.roles,
                hasIssuer: { [issuers = parts.issuers] in issuers?.hasUser(named: $0) ?? false }, now: parts.now),
            upkeep: UserUpkeep(
                store: parts.store, hub: parts.notifications.hub, policy: parts.policy, now: parts.now,
                report: { logger.warning("\($0)") }),
            authenticator: parts.authenticator,
            status: StatusReport(
                store: parts.store, version: parts.version, load: parts.load, waiting: parts.waiting,
                site: parts.status),
            logger: logger)
    }
}
