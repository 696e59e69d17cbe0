// SPDX-License-Identifier: Apache-2.0
import HTTP
import Push

/// One push on its way.
struct PendingPush: Sendable {
    let request: Request
    let completion: @Sendable (Result<Response, any Error>) -> Void
    /// How often it was handed to a transport, and when for the first time.
    fileprivate private(set) var sendings = 0
    fileprivate private(set) var firstSentAt: ContinuousClock.Instant?

    init(request: Request, completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        (self.request, self.completion) = (request, completion)
    }

    fileprivate mutating func countSending(at instant: ContinuousClock.Instant) {
        sendings += 1
        firstSentAt = firstSentAt ?? instant
    }
}

/// Decides which push goes over which connection, and when connection and token are replaced. It carries nothing.
///
/// APNs wants one token per connection for the connection's whole life, and one push alone until it has accepted the
/// token; so pushes wait behind the first one.
struct ConnectionSchedule {
    /// What is to be done next, outside the lock.
    enum Step {
        /// Open a connection, with that token; nil: with a new one.
        case open(ProviderToken?)
        /// Carry these over the connection. The first push alone tries out whether APNs accepts the token.
        case carry([PendingPush], over: Connection, isTrial: Bool)
        case fail([PendingPush], any Error)
    }

    struct Connection {
        let id: Int
        let transport: APNsTransport
        let token: ProviderToken?
        fileprivate var inFlight = 0
        fileprivate var isAccepted = false
        fileprivate var isOnTrial = false
        fileprivate var lastAnswer: ContinuousClock.Instant?
        /// When it is closed, whatever is under way: it was replaced.
        fileprivate var closeBy: ContinuousClock.Instant?
    }

    /// What follows from the end of a push.
    struct Ending {
        /// Whether it waits for another connection. Its caller is not told anything yet.
        let isSentAgain: Bool
        /// The pushes that waited for it and whose fate is the same.
        var alike: [PendingPush] = []
    }

    /// How often a push is sent again that APNs has refused to process, and until when after it was sent first.
    static let maximumResends = 2
    static let resendTime = Duration.seconds(10)
    /// How long a connection that was replaced may take to finish its pushes; longer than any push may take.
    static let drainTime = Duration.seconds(120)
    /// Replaced connections that may be open at once; with more, the next one is opened when one of them has ended. Those under way
    /// may have been taken, so no connection is cut for a new one; and Apple takes quick reconnecting for an attack.
    static let maximumDraining = 3

    private let usesTokens: Bool
    private let maximumWaiting: Int
    private var waiting: [PendingPush] = []
    private var current: Connection?
    private var draining: [Connection] = []
    private var isOpening = false
    private var isClosed = false
    private var lastID = 0
    /// Of the current connection, and of the next one while it is good.
    private var token: ProviderToken?
    private var tokenDroppedAt: ContinuousClock.Instant?
    private var connectionDroppedAt: ContinuousClock.Instant?
    /// APNs has called the token expired too early.
    private var isRefused = false

    /// - Parameter maximumWaiting: pushes that may wait for a connection, or for the first push on it.
    init(usesTokens: Bool, maximumWaiting: Int) {
        self.usesTokens = usesTokens
        self.maximumWaiting = maximumWaiting
    }

    /// - Returns: whether there was room.
    mutating func add(_ push: PendingPush) -> Bool {
        guard waiting.count < maximumWaiting else { return false }
        waiting.append(push)
        return true
    }

    var waitingCount: Int { waiting.count }
    var currentTransport: APNsTransport? { current?.transport }

    mutating func next(at now: Moment) -> Step? {
        dropStaleToken(at: now)
        guard !waiting.isEmpty else { return nil }
        if isClosed { return .fail(takeWaiting(), PushNotSent.closed) }
        if isRefused {
            return .fail(takeWaiting(), CredentialError.refused(reason: CredentialFault.clock.rawValue))
        }
        guard var connection = current else {
            guard !isOpening, draining.count(where: { $0.inFlight > 0 }) < Self.maximumDraining else { return nil }
            isOpening = true
            return .open(token)
        }
        let isTrial = !connection.isAccepted
        guard !(isTrial && connection.isOnTrial) else { return nil }
        var pushes = isTrial ? [waiting.removeFirst()] : takeWaiting()
        for index in pushes.indices { pushes[index].countSending(at: now.instant) }
        connection.inFlight += pushes.count
        connection.isOnTrial = isTrial
        current = connection
        return .carry(pushes, over: connection, isTrial: isTrial)
    }

    /// The connection that a `Step.open` asked for.
    mutating func opened(_ transport: APNsTransport, _ token: ProviderToken?, at now: Moment) {
        isOpening = false
        lastID += 1
        self.token = token
        current = Connection(id: lastID, transport: transport, token: token)
        if isClosed { dropConnection(at: now) }
    }

    /// - Returns: the pushes that waited for the connection.
    mutating func openingFailed() -> [PendingPush] {
        isOpening = false
        return takeWaiting()
    }

    /// A push has ended.
    /// - Parameter startedAt: when it was handed to the transport.
    mutating func ended(
        _ push: PendingPush, on id: Int, isTrial: Bool, startedAt: ContinuousClock.Instant,
        _ result: Result<Response, any Error>, at now: Moment
    ) -> Ending {
        let isRefused = Self.isFailure(result, "refused", isUnsent: true)
        let isSentAgain = isRefused && sendAgain(push, at: now)
        guard var connection = current, connection.id == id else {
            if let index = draining.firstIndex(where: { $0.id == id }) { draining[index].inFlight -= 1 }
            return Ending(isSentAgain: isSentAgain)
        }
        connection.inFlight -= 1
        if isTrial { connection.isOnTrial = false }
        let isAccepted: Bool
        var isSilent = false
        switch result {
        case .success(let response):
            isAccepted = response.status.code != 403
            connection.lastAnswer = now.instant
            // A later 403 on a connection that works is the matter of that push.
            connection.isAccepted = connection.isAccepted || isAccepted
        case .failure:
            isAccepted = false
            // libcurl may need a new connection for the next one.
            connection.isAccepted = false
            isSilent =
                Self.isFailure(result, "timeout", isUnsent: false)
                && connection.lastAnswer.map { $0 < startedAt } ?? true
        }
        current = connection
        // libcurl keeps a connection on which requests time out, and on one that APNs ends pushes of others may be under way.
        if isSilent || isRefused { dropConnection(at: now) }
        let isShared = isTrial && !isAccepted && !connection.isAccepted && !isSentAgain
        return Ending(isSentAgain: isSentAgain, alike: isShared ? takeWaiting() : [])
    }

    /// - Returns: false for a push that was refused often, or took long, and where there is no room to wait.
    private mutating func sendAgain(_ push: PendingPush, at now: Moment) -> Bool {
        guard push.sendings <= Self.maximumResends, let first = push.firstSentAt,
            now.instant - first < Self.resendTime
        else { return false }
        return add(push)
    }

    /// APNs called the token of a push expired that was sent at that time.
    mutating func renewToken(refused sentAt: ContinuousClock.Instant, at now: Moment) {
        guard usesTokens, let token, !isRefused, tokenDroppedAt.map({ $0 <= sentAt }) ?? true else { return }
        if token.age(at: now) >= ProviderToken.minimumAge {
            dropToken(at: now)
        } else {
            isRefused = true
            // It takes no other token after this answer.
            dropConnection(at: now)
        }
    }

    /// The next push gets a connection that is opened after that time, with the same token.
    mutating func reconnect(after time: ContinuousClock.Instant, at now: Moment) {
        guard connectionDroppedAt.map({ $0 <= time }) ?? true else { return }
        dropConnection(at: now)
    }

    mutating func close(at now: Moment) {
        isClosed = true
        dropConnection(at: now)
        for index in draining.indices { draining[index].closeBy = now.instant }
    }

    /// Takes the replaced connections whose last push has ended, or whose time is over.
    mutating func takeClosable(at now: Moment) -> [APNsTransport] {
        let closable = draining.filter { $0.inFlight <= 0 || $0.closeBy.map { $0 <= now.instant } ?? true }
        draining.removeAll { connection in closable.contains { $0.id == connection.id } }
        return closable.map(\.transport)
    }

    private mutating func dropStaleToken(at now: Moment) {
        guard let token else { return }
        let isOver = isRefused && token.age(at: now) >= ProviderToken.minimumAge
        if isOver || token.isStale(at: now) { dropToken(at: now) }
    }

    private mutating func dropToken(at now: Moment) {
        token = nil
        tokenDroppedAt = now.instant
        isRefused = false
        dropConnection(at: now)
    }

    private mutating func dropConnection(at now: Moment) {
        guard var connection = current else { return }
        current = nil
        connectionDroppedAt = now.instant
        connection.closeBy = now.instant + Self.drainTime
        draining.append(connection)
    }

    private mutating func takeWaiting() -> [PendingPush] {
        defer { waiting.removeAll(keepingCapacity: true) }
        return waiting
    }

    private static func isFailure(_ result: Result<Response, any Error>, _ kind: String, isUnsent: Bool) -> Bool {
        guard case .failure(let error as any TransportFailure) = result else { return false }
        return error.kind == kind && error.isUnsent == isUnsent
    }
}
