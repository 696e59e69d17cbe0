// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import System

/// One way to the devices of one platform: a driver, the sender that carries its requests with one credential, and what
/// follows from the answers for that credential.
///
/// When the service refuses the credential, the channel is held: nothing is sent for a minute. Then one push at a time is
/// sent, and each further refusal doubles the pause, up to 15 minutes.
package final class PushChannel: Sendable {
    /// Which of a platform's devices share one push service, so that they wait together when it is in trouble.
    package enum Services: Sendable {
        /// All of them.
        case one
        /// Those whose requests go to the same host and port, as with browsers.
        case byAuthority
    }

    /// That the service refuses the channel's credential. Times are seconds since 1970.
    package struct Hold: Equatable, Sendable {
        package let channel: String
        /// For the operator; never a secret, a handle or a text.
        package let reason: String
        package let since: Int64
        /// When the credential is shown to the service again.
        package let until: Int64
    }

    /// That no push can be sent although the credential is not refused. Pushes are tried again with growing pauses.
    package struct Outage: Equatable, Sendable {
        package enum Cause: Sendable {
            /// The service that issues the channel's access tokens gives none.
            case token
            /// The push service is not trusted (`ConnectionFault`).
            case connection
        }

        package let channel: String
        package let cause: Cause
        /// For the operator; never a secret.
        package let reason: String
        /// Seconds since 1970.
        package let since: Int64
    }

    /// Whether a push may be sent.
    package enum Admission: Sendable {
        case open
        /// One at a time, to see whether the credential is accepted again.
        case probe
        case held
    }

    /// For the log and the metrics: `apns`, `apns sandbox`, `browser`. Never a secret.
    package let name: String
    /// The app whose devices are reached, in lower case as `Tag.app` has it; empty where the platform has no apps.
    /// Channels of one platform and app are environments of one service.
    package let app: String
    package let driver: any PushDriver
    /// Pushes in flight at once to one service, where it is fewer than the hub allows; nil: as many as the hub allows.
    package let maximumInFlight: Int?
    private let sender: any PushSender
    private let services: Services
    private let ownService: String
    private let now: @Sendable () -> Int64
    private let clock: MonotonicClock
    private let report: @Sendable (String) -> Void
    private let credential = Lock<CredentialHold?>(nil)
    private let outages = Lock(ChannelOutages())
    private let troubles = Lock(ServiceTroubles())

    /// - Parameters:
    ///   - maximumInFlight: for a sender with few connections of one push each; more would wait for one of them.
    ///   - now: seconds since 1970.
    ///   - clock: counts pauses, and tells the sender when a push is sent.
    ///   - report: receives a sentence for the operator when a hold or an outage begins and when it ends.
    package init(
        name: String, app: String = "", driver: any PushDriver, sender: any PushSender, services: Services = .one,
        maximumInFlight: Int? = nil, now: @escaping @Sendable () -> Int64,
        clock: @escaping MonotonicClock = { .now },
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.name, self.app) = (name, app.lowercased())
        (self.driver, self.sender, self.services) = (driver, sender, services)
        self.maximumInFlight = maximumInFlight
        (self.now, self.clock, self.report) = (now, clock, report)
        // With a blank, which no authority has.
        ownService = "channel \(name)"
    }

    /// Names the push service that the request goes to. No two channels share a name, even where they share a host.
    package func service(of request: Request) -> String {
        switch services {
        case .one: ownService
        case .byAuthority: request.authority
        }
    }

    /// The host of the service of that name; nil where the channel has one service, which its platform names.
    package func host(of service: String) -> String? { services == .byAuthority && !service.isEmpty ? service : nil }

    /// Pushes that wait on this host, and the service that they wait for; nil where the channel has several services, because
    /// those of one must not keep the others waiting.
    package var backlog: (service: String, unsent: Int)? {
        switch services {
        case .one: (ownService, sender.unsent)
        case .byAuthority: nil
        }
    }

    package func admission(_ now: ContinuousClock.Instant) -> Admission {
        credential.withLock { hold in
            guard let hold else { return .open }
            return hold.isPause(now) ? .held : .probe
        }
    }

    /// Nil while the service accepts the credential.
    package var hold: Hold? {
        let (now, instant) = (now(), clock())
        return credential.withLock { hold in
            hold.map {
                // To the nearest second.
                let left = (instant.duration(to: $0.until) + .milliseconds(500)).components.seconds
                return Hold(channel: name, reason: $0.reason, since: $0.since, until: now + left)
            }
        }
    }

    /// The oldest; nil while pushes are sent.
    package var outage: Outage? {
        let now = clock()
        return outages.withLock { $0.first(at: now) }
    }

    /// Why pushes to that service wait: the outage's reason; nil: there is none.
    package func waitReason(of service: String) -> String? {
        guard services == .byAuthority || service == ownService else { return nil }
        return outages.withLock { $0.reason(of: service) }
    }

    /// Sends a request of the driver's. Returns at once. A refused credential that can be renewed is renewed, and the same
    /// request is sent once more.
    /// - Parameter completion: called once, as that of `RequestSender.send`; its action is never `renewCredential`.
    package func send(_ request: Request, _ completion: @escaping @Sendable (PushResult) -> Void) {
        let isAfterRefusal = credential.withLock { $0 != nil }
        send(Push(request: request, isAfterRefusal: isAfterRefusal, isRepeated: false), completion)
    }

    private struct Push {
        let request: Request
        /// Whether the channel was held when the push was sent, so that success ends the hold.
        let isAfterRefusal: Bool
        /// Whether it was sent before, with a credential that has been renewed since.
        let isRepeated: Bool
    }

    private func send(_ push: Push, _ completion: @escaping @Sendable (PushResult) -> Void) {
        let sentAt = clock()
        sender.send(push.request) { [self] answer in
            noteOutage(answer, of: push.request)
            var result = PushResult(answer, to: push.request, by: driver)
            noteTrouble(answer, result, of: push.request)
            if result.closesConnection { sender.reconnect(after: sentAt) }
            if result.action == .renewCredential {
                guard push.isRepeated else {
                    sender.renewCredential(refused: sentAt)
                    let again = Push(request: push.request, isAfterRefusal: push.isAfterRefusal, isRepeated: true)
                    return send(again, completion)
                }
                result.action = .holdCredential(reason: result.reason ?? result.outcome.rawValue)
            }
            switch result.action {
            case .holdCredential(let reason): refuse(reason)
            case .removeRegistration, .doubtRegistration, .retryDevice, .retryPush, .tryOtherEnvironment:
                if push.isAfterRefusal { accept() }
            case .settle: if push.isAfterRefusal, result.outcome.showsAcceptance { accept() }
            case .retry, .renewCredential: break
            }
            completion(result)
        }
    }

    /// Every answer but that there is no token shows that the push had one.
    private func noteOutage(_ answer: Result<Response, any Error>, of request: Request) {
        let service = service(of: request)
        switch answer {
        case .failure(CredentialError.unavailable): break
        case .failure(CredentialError.unanswered(let reason, _)):
            let outage = Outage(channel: name, cause: .token, reason: reason, since: now())
            let isNew = outages.withLock { $0.beginToken(outage) }
            if isNew { report("push: no access token for \(name): \(reason)") }
        case .failure(let error):
            reportEnd(ofToken: outages.withLock { $0.endToken() }, ofConnection: false)
            if let fault = (error as? any TransportFailure)?.fault { noteFault(fault, of: service) }
        case .success:
            let (token, connection) = outages.withLock { ($0.endToken(), $0.end(service)) }
            reportEnd(ofToken: token, ofConnection: connection)
        }
    }

    /// That a service takes nothing at present is logged once, and that it does again.
    private func noteTrouble(_ answer: Result<Response, any Error>, _ result: PushResult, of request: Request) {
        let service = service(of: request)
        let (words, pause): (String, Int?)
        switch (answer, result.action) {
        case (.failure(is CredentialError), _): return
        case (.failure(let error), _):
            guard let failure = error as? any TransportFailure, failure.fault == nil, !failure.isPermanent else {
                return
            }
            (words, pause) = ("it does not answer (\(failure.kind))", nil)
        case (.success, .retry(let seconds)):
            (words, pause) = ("\(result.outcome)" + (result.reason.map { ": \($0)" } ?? ""), seconds)
        case (.success, _):
            let wasReported = troubles.withLock { $0.end(service) }
            if wasReported { report("push: \(label(of: service)) takes pushes again") }
            return
        }
        let now = clock()
        let isNews = troubles.withLock { $0.begin(service, pause: pause, at: now) }
        if isNews { report("push: \(label(of: service)) takes no pushes at present: \(words)") }
    }

    private func label(of service: String) -> String { name + (host(of: service).map { " (\($0))" } ?? "") }

    private func noteFault(_ fault: ConnectionFault, of service: String) {
        let now = clock()
        let reason = fault.sentence(of: services == .one ? "the push service" : service)
        let outage = Outage(channel: name, cause: .connection, reason: reason, since: self.now())
        let isNew = outages.withLock { $0.begin(service, outage, at: now) }
        if isNew { report("push: no trusted connection for \(name): \(reason)") }
    }

    private func reportEnd(ofToken token: Bool, ofConnection connection: Bool) {
        if token { report("push: there is an access token for \(name) again") }
        if connection { report("push: there is a trusted connection for \(name) again") }
    }

    private func refuse(_ reason: String) {
        let (since, now) = (now(), clock())
        let isNew = credential.withLock { hold in
            hold?.refuse(reason: reason, now: now)
            guard hold == nil else { return false }
            hold = CredentialHold(reason: reason, since: since, now: now)
            return true
        }
        if isNew, let hold { report("push: the service refuses the credential of \(name): \(hold.reason)") }
    }

    private func accept() {
        let wasHeld = credential.withLock { $0.take() != nil }
        if wasHeld { report("push: the service accepts the credential of \(name) again") }
    }
}

extension PushOutcome {
    /// Whether a service says so only of a push whose credential it has accepted.
    fileprivate var showsAcceptance: Bool {
        let after: Set<PushOutcome> = [
            .success, .dropped, .wrongChannel, .badChannel, .invalidNotificationFormat, .invalidNotificationSize,
        ]
        return after.contains(self)
    }
}
