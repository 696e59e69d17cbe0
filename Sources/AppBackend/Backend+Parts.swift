// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
package import HTTP
package import JWT
package import Logging
package import Store
package import System
package import Text

extension Backend {
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
        /// The devices that are sent to.
        package var endpoints = EndpointPolicy()
        /// The other sites whose pages may call the API.
        package var foreignOrigins = ForeignOrigins()
        /// For how long a secure notification waits for its owner, in seconds.
        package var retentionSeconds: Int64
        /// For how long plain messages are kept for the inbox, in seconds; 0: they are not.
        package var plainSeconds: Int64 = 0
        /// Whether a plain message to one user has the number of their unread messages as its badge, where it has none.
        package var countsBadges = false
        /// Tells a user's devices what was read on one of them; nil: they are not told.
        package var inboxSync: InboxSync?
        /// Tells receivers elsewhere what happens; nil: no receiver is configured.
        package var webhooks: Webhooks?
        /// Users' messages for later.
        package var schedule: SendSchedule
        package var realm: String
        /// How long a log-in by cookie lasts, in seconds.
        package var sessionSeconds: Int64
        /// What one user may do, and what each has done so far.
        package var limits = UserLimits()
        package var meter = UserMeter()
        package var writeCheck = WriteCheck()
        /// How long a registration waits for others of the same handle, in seconds; then it is answered 503.
        package var registrationWaitSeconds = 10
        package var publicConfiguration: PublicConfiguration
        /// Of the program, as `/health` tells it to this host.
        package var version: String
        package var now: @Sendable () -> Timestamp
        package var clock: MonotonicClock = { .now }
        package var load: @Sendable () -> HealthController.Load
        /// The ways to devices whose messages wait for a credential, for `/health`.
        package var waiting: @Sendable () -> [HealthController.WaitingChannel] = { [] }
        /// What the process has made of its reloads, for `/health`.
        package var reload: @Sendable () -> HealthController.Reload = { HealthController.Reload() }
        /// What the site knows of itself, for administrators.
        package var status: @Sendable () -> SiteStatus = { SiteStatus() }
        /// What the last look at the service has found, for administrators.
        package var findings: @Sendable () -> SiteFindings = { SiteFindings() }
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
            schedule = SendSchedule(store: store)
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
}

/// The controllers that are made of them.
extension Backend.Parts {
    /// The users that the authenticator knows, and those of trusted issuers.
    var users: any PasswordAuthenticator {
        guard let issuers else { return authenticator }
        return IssuerUsers(
            inner: authenticator, store: store, verifier: issuers, newUserRoles: policy.newUserRoles, now: now)
    }

    /// What callers of this host are answered without credentials, by path.
    var monitors: [String: LoopbackOnly] {
        let health = HealthController(store: store, version: version, load: load, waiting: waiting, reload: reload)
        var found = [Path.health: LoopbackOnly(inner: health)]
        if let metrics { found[Path.metrics] = LoopbackOnly(inner: metrics) }
        return found
    }

    /// What needs no credentials.
    func openRoutes(_ sessions: Sessions, _ challenge: Challenge, _ seen: SeenUsers) -> [Route<RequestAction>] {
        let config = ConfigController(
            publicConfiguration, platforms: notifications.platforms, realm: realm, isSecureOnly: policy.isSecureOnly)
        guard authenticationMethods.contains(.session) else { return config.routes }
        let session = SessionController(
            sessions: sessions, authenticator: authenticator,
            takesPasswords: authenticationMethods.contains(.password) || authenticationMethods.contains(.test),
            challenge: challenge, policy: policy, seen: seen)
        return session.routes + config.routes
    }

    /// - Parameter users: the users of the store and of issuers.
    func registerController(_ users: any PasswordAuthenticator) -> RegisterController {
        RegisterController(
            store: store, notifications: notifications, policy: policy, apps: apps, endpoints: endpoints,
            authenticator: users, now: now, registrationLock: KeyedLock(seconds: registrationWaitSeconds))
    }

    /// What is a user's.
    func userRoutes(_ users: any PasswordAuthenticator, _ sessions: Sessions) -> [Route<UserAction>] {
        let register = registerController(users)
        let password = PasswordController(
            store: store, sessions: sessions, takesPasswords: authenticationMethods.contains(.password))
        // No token that the tutorial's test would let a stranger make is good after the change to real users.
        let tokens =
            authenticationMethods.contains(.token)
            ? TokenController(store: store, authenticator: authenticator, now: now).routes : []
        let own =
            authenticationMethods.contains(.session) ? SessionListController(sessions: sessions).routes : []
        let administration = AdministrationController(self)
        return [register.routes, messageRoutes, tokens, own, password.routes, administration.routes].flatMap(\.self)
    }

    private var messageRoutes: [Route<UserAction>] {
        sending.routes + InboxController(store: store, changes: inboxChanges, now: now).routes
    }

    private var inboxChanges: InboxChanges {
        InboxChanges(store: store, webhooks: webhooks, sync: inboxSync, now: now, logger: logger)
    }

    var sending: NotificationsController {
        NotificationsController(
            store: store, notifications: notifications, delivering: publicConfiguration.deliveringPlatforms,
            policy: policy, issuers: issuers, retentionSeconds: retentionSeconds, plainSeconds: plainSeconds,
            countsBadges: countsBadges, changes: inboxChanges, schedule: schedule,
            writeCheck: writeCheck, now: now, logger: logger)
    }
}

extension AdministrationController {
    fileprivate init(_ parts: Backend.Parts) {
        let logger = parts.logger
        self.init(
            administration: UserAdministration(
                store: parts.store, policy: parts.policy,
                hasIssuer: { [issuers = parts.issuers] in issuers?.hasUser(named: $0) ?? false }, now: parts.now),
            upkeep: UserUpkeep(
                store: parts.store, hub: parts.notifications.hub, policy: parts.policy, now: parts.now,
                report: { logger.warning("\($0)") }),
            authenticator: parts.authenticator,
            status: StatusReport(
                store: parts.store, version: parts.version, load: parts.load, waiting: parts.waiting,
                site: parts.status),
            findings: parts.findings, history: MessageHistory(store: parts.store, now: parts.now),
            hub: parts.notifications.hub,
            logger: logger)
    }
}
