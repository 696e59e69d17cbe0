// SPDX-License-Identifier: Apache-2.0
import CPlatform
import FastCGI
import Logging
import Store
import Synchronization
import System

/// Tidies the store a little at a time, so that what has expired does not lie on the disk for longer than an hour, or
/// longer only in a store of more files than are looked at in one, 5,760; and ends the server when the disk has lost
/// something: what it holds is then unknown, and only a new process finds out.
final class Maintenance: Sendable {
    /// Buckets that are looked at in one go: at most 2 MiB are read.
    static let budget = 16
    /// Seconds after which a start is over.
    static let startSeconds = 2
    /// So many requests between two goes are a monitor's: no app calls.
    static let fewRequests = 2
    /// A process that is never quiet gives back the memory that it has freed after so many goes.
    static let busyGoes = 6
    /// Seconds between two goes. An empty store of some 2,560 buckets is gone through in 27 minutes.
    static let pauseSeconds = 10

    private let store: any SiteStore
    private let logger: Logger
    private let stopping = Latch()
    private let foundLoss = Atomic(false)
    /// Said once, not every ten seconds.
    private let lastError = Lock<StoreError?>(nil)

    init(store: any SiteStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Whether the server was stopped because the store is poisoned.
    var hasFoundLoss: Bool { foundLoss.load(ordering: .acquiring) }

    /// Works on a thread of its own until `stop`.
    /// - Parameters:
    ///   - requests: how many were answered so far.
    ///   - keepUp: does what is left to be done for users, a little of it.
    ///   - onLoss: called once, when the store cannot be trusted any more.
    /// - Throws: `ServerError.noThread`.
    func start(
        requests: @escaping @Sendable () -> Int, keepUp: @escaping @Sendable () throws(StoreError) -> Void,
        onLoss: @escaping @Sendable () -> Void
    ) throws(ServerError) {
        try PlatformThread.start { [self] in
            guard !stopping.wait(for: .seconds(Self.startSeconds)) else { return }
            // What only a start needs counts against hosts' limits as long as it is mapped; so does what busy hours needed.
            platform_release_code_pages()
            var (last, goes) = (requests(), 0)
            while !stopping.wait(for: .seconds(Self.pauseSeconds)) {
                guard sweep(keepUp) else {
                    foundLoss.store(true, ordering: .releasing)
                    return onLoss()
                }
                let count = requests()
                if count - last <= Self.fewRequests { platform_release_code_pages() }
                goes &+= 1
                if count - last <= Self.fewRequests || goes % Self.busyGoes == 0 { platform_release_free_memory() }
                last = count
            }
        }
    }

    func stop() {
        stopping.open()
    }

    /// - Returns: false, when the store is poisoned.
    private func sweep(_ keepUp: () throws(StoreError) -> Void) -> Bool {
        // One that fails does not keep the other from its work.
        let isTidied = attempt { () throws(StoreError) in _ = try store.sweep(budget: Self.budget, now: Site.now()) }
        return attempt(keepUp) && isTidied
    }

    private func attempt(_ body: () throws(StoreError) -> Void) -> Bool {
        do throws(StoreError) {
            try body()
            return true
        } catch {
            guard error == .poisoned else {
                let isNews = lastError.withLock { last in
                    defer { last = error }
                    return last != error
                }
                if isNews { logger.warning("the store cannot be tidied: \(error)") }
                return true
            }
            logger.critical("the store is poisoned: a flush failed; ending, so that a new process looks at the disk")
            return false
        }
    }
}
