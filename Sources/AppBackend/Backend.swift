// SPDX-License-Identifier: Apache-2.0
package import DeviceAPI
package import HTTP
package import HTTPTypes
import Logging
import NotificationHub
import Store
import Text

/// The tutorial's backend: every request in, an answer out, whatever happens.
package struct Backend: Responder {
    /// Before authentication, for a monitor has no credentials.
    private let monitors: [String: LoopbackOnly]
    /// The routes that need no credentials.
    private let open: Router<RequestAction>
    private let api: AuthenticationHandler
    private let userRoutes: Router<UserAction>
    private let foreignOrigins: ForeignOrigins
    private let logger: Logger
    /// Sends what users have put off.
    package let scheduledSender: ScheduledSender
    /// Registers devices from an operator's list.
    package let deviceImport: DeviceImport

    package init(_ parts: Parts) {
        let (users, methods) = (parts.users, parts.authenticationMethods)
        let sessions = Sessions(
            store: parts.store, authenticator: parts.authenticator, lifetime: parts.sessionSeconds, now: parts.now)
        let challenge = Challenge(realm: parts.realm, methods: methods)
        let seen = SeenUsers(store: parts.store, now: parts.now)
        monitors = parts.monitors
        open = Router(parts.openRoutes(sessions, challenge, seen))
        userRoutes = Router(parts.userRoutes(users, sessions))
        api = AuthenticationHandler(
            authenticators: methods.compactMap { $0.authenticator(parts, sessions, users) }, challenge: challenge,
            seen: seen,
            inner: AdministrationHandler(
                policy: parts.policy,
                inner: ScopeHandler(
                    inner: UserLimiter(
                        limits: parts.limits, meter: parts.meter,
                        inner: IdempotencyHandler(
                            store: parts.store, inner: RouteHandler(), now: parts.now, logger: parts.logger)))))
        scheduledSender = ScheduledSender(parts.sending, users: users, methods: methods)
        deviceImport = DeviceImport(controller: parts.registerController(users))
        (foreignOrigins, logger) = (parts.foreignOrigins, parts.logger)
    }

    /// Never throws: what is not foreseen becomes 500 with an id that is also in the log.
    package func respond(to request: Request) -> Response {
        var request = request
        request.body = request.body.withoutByteOrderMark
        if let monitor = monitors[request.path] {
            return answer(request, route: request.path) { try monitor.respond(to: request) }
        }
        let destination = destination(of: request)
        // Sessions are for this site's own page.
        if destination.pattern != Path.session, let origin = foreignOrigins.origin(of: request) {
            return respond(to: request, at: destination, of: origin)
        }
        return respond(to: request, at: destination)
    }

    /// What a request's path and method lead to.
    enum Destination: Sendable {
        case open(RouteMatch<RequestAction>)
        /// Nil: there is no such path, which only users are told.
        case user(RouteMatch<UserAction>?)

        fileprivate var pattern: String? {
            switch self {
            case .open(let route): route.pattern
            case .user(let route): route?.pattern
            }
        }
    }

    /// Looked up once: the match travels with the request.
    func destination(of request: Request) -> Destination {
        // Most requests are users'.
        if let route = userRoutes.match(request) { return .user(route) }
        return open.match(request).map { .open($0) } ?? .user(nil)
    }

    func respond(to request: Request, at destination: Destination) -> Response {
        answer(request, route: destination.pattern) {
            try request.requireIdentity()
            return switch destination {
            case .open(let route): try route.respond(to: request)
            case .user(let route): try api.respond(to: request, route: route)
            }
        }
    }

    /// - Parameter origin: of the page that asks.
    private func respond(to request: Request, at destination: Destination, of origin: String) -> Response {
        if request.method == .options { return ForeignOrigins.preflight(origin) }
        guard !ForeignOrigins.mayHaveAddedPassword(request) else {
            return ForeignOrigins.allowing(ForeignOrigins.unclearPassword.response, origin)
        }
        var response = ForeignOrigins.allowing(
            respond(to: ForeignOrigins.withoutBrowser(request), at: destination), origin)
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
        case .contentTooLarge: Problem(.bodyTooLarge, "The body is longer than this backend takes.", field: "body")
        case .badRequest: Problem(.unreadableRequest, "The request cannot be read.")
        case .serviceUnavailable: Problem(.overloaded, "Too many requests wait.", retryAfter: 1)
        default: Problem(.internalError, "Something went wrong; the log says more.")
        }
    }

    private func answer(_ error: any Error, to request: Request) -> Response {
        // Logged where it was thrown.
        if let noSideEffects = error as? NoSideEffects { return noSideEffects.response }
        guard let problem = Problem(error: error) else {
            // The type alone: a description could hold what the request held.
            logger.error("defect", metadata: ["request": "\(request.id)", "error": "\(type(of: error))"])
            return Problem(.internalError, "Something went wrong; the log has it under \(request.id).").response
        }
        if problem.status.kind == .serverError {
            logger.warning(
                "\(reason(of: error))", metadata: ["request": "\(request.id)", "code": "\(problem.codeText ?? "")"])
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
                store: parts.store, users: parts.authenticator, throttle: parts.tokenThrottle, now: parts.now,
                clock: parts.clock)
        case .bearer: parts.issuers.map { BearerAuthenticator(verifier: $0, users: users) }
        case .webServer: WebServerAuthenticator(users: parts.authenticator)
        case .session: SessionAuthenticator(sessions: sessions)
        }
    }
}
