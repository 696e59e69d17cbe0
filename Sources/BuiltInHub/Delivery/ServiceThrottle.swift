// SPDX-License-Identifier: Apache-2.0
internal import Push
internal import System

/// What is known of the push services at this moment, by the names that channels give them: how many requests each has in flight, and which of
/// them is left alone for a while.
///
/// A service that is down delays its own devices only, unless so many of one message
/// wait for it that the message itself does (`DeliveryWorker.Options.retries`).
struct ServiceThrottle {
    private struct Service {
        var inFlight = 0
        var limit: Int
        /// Of these, the ones that wait on this host; nil: that is not known.
        var unsent: Int?
        /// From when it had as many in flight as it may, until there is room for a whole batch.
        var isFull = false
        /// The same, of as many unsent as it may have.
        var isBackedUp = false
        var failures = 0
        var backoffUntil: ContinuousClock.Instant?
    }

    /// Services that are remembered while they have nothing in flight. Devices name them, and can name any number.
    static let maximumIdle = 1_024
    /// How long a service is left alone if it does not say for how long.
    static let backoff = Backoff(doubling: .seconds(1), to: .seconds(60))
    /// The longest that it is left alone if it does, in seconds; Apple asks for as much.
    private static let maximumHold: Int64 = 15 * 60

    private let limit: Int
    private let batch: Int
    private let unsentLimit: Int
    private var services: [String: Service] = [:]
    /// Services that have taken a push, as many as are remembered.
    private var reached: Set<String> = []
    private(set) var inFlight = 0
    /// Channels with a push in flight that shows whether the credential is accepted again.
    var probed: Set<String> = []
    var devices = DeviceThrottle()

    /// - Parameters:
    ///   - limit: requests that one service may have in flight.
    ///   - batch: one that was full takes more only when there is room for so many, because each time that some are
    ///     handed over costs a write to the store.
    ///   - unsent: requests to one service that may wait on this host, where their number is known.
    init(limit: Int = .max, batch: Int = 1, unsent: Int = .max) {
        (self.limit, self.batch, unsentLimit) = (limit, batch, unsent)
    }

    /// Whether the service may be given no more now.
    func isFull(_ service: String) -> Bool {
        services[service].map { $0.isFull || $0.isBackedUp } ?? false
    }

    /// Whether a service is given no more for the only reason that too many wait on this host. No answer tells when they have
    /// been sent.
    var isBackedUp: Bool { services.values.contains { $0.isBackedUp && !$0.isFull } }

    /// How many of the requests to the service wait on this host, of those that were handed over by now.
    mutating func note(unsent: Int, of service: String) {
        services[service, default: Service(limit: limit)].unsent = unsent
        let hasRoom = unsent <= max(unsentLimit / 2, unsentLimit - batch)
        if hasRoom { services[service]?.isBackedUp = false }
    }

    /// When the service may be asked again, if not now.
    func backoffUntil(_ service: String, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let until = services[service]?.backoffUntil, until > now else { return nil }
        return until
    }

    /// Whether the name of a service's host, which nothing but devices' addresses has named, is taken for that of no host: so many
    /// tries in a row have failed, each after a longer pause. The host of one that has taken a push has lost its address for a
    /// while, as when this host's resolver is away. While no service has taken a push since the start, that may be so for all.
    /// - Parameter attempts: how often the push itself was tried.
    func leadsNowhere(_ service: String, attempts: Int, tries: Int) -> Bool {
        max(attempts, services[service]?.failures ?? 0) >= tries && !reached.isEmpty && !reached.contains(service)
    }

    /// - Parameter most: requests that this service may have in flight, where it is fewer than others may.
    mutating func begin(_ service: String, most: Int? = nil) {
        inFlight += 1
        let limit = min(most ?? limit, limit)
        var known = services[service] ?? Service(limit: limit)
        known.limit = limit
        known.inFlight += 1
        known.unsent? += 1
        if known.unsent ?? 0 >= unsentLimit { known.isBackedUp = true }
        if known.inFlight >= limit { known.isFull = true }
        services[service] = known
    }

    mutating func end(_ service: String, _ result: PushResult, now: ContinuousClock.Instant) {
        inFlight -= 1
        services[service]?.inFlight -= 1
        if let known = services[service], known.inFlight <= max(known.limit / 2, known.limit - batch) {
            services[service]?.isFull = false
        }
        if result.outcome == .success, reached.count < Self.maximumIdle { reached.insert(service) }
        defer { forgetIdle(now) }
        guard case .retry(let seconds) = result.action else {
            services[service]?.failures = 0
            return
        }
        // The many failures of what was in flight together are one.
        guard backoffUntil(service, now: now) == nil else { return }
        let failures = services[service]?.failures ?? 0
        services[service]?.failures = failures + 1
        let asked = min(Int64(seconds ?? 0), Self.maximumHold)
        services[service]?.backoffUntil = now + .seconds(Self.backoff.seconds(after: failures, atLeast: asked))
    }

    /// First those of which there is nothing to remember, then those that are held as well.
    private mutating func forgetIdle(_ now: ContinuousClock.Instant) {
        guard services.count > Self.maximumIdle else { return }
        services = services.filter { $0.value.inFlight > 0 || $0.value.backoffUntil.map { $0 > now } ?? false }
        guard services.count > Self.maximumIdle else { return }
        services = services.filter { $0.value.inFlight > 0 }
    }
}
