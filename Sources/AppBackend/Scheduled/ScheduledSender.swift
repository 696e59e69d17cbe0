// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Logging
package import Store
import Synchronization
import System
import Text

/// Sends users' messages for later when their time has come, as their senders could send them then: what has become of rights, users
/// and devices since counts.
///
/// Of all processes on one store the one that holds the lease sends. A message is sent at least once: a process that is killed at
/// that moment leaves it to the next one.
package final class ScheduledSender: Sendable {
    /// How often it looks for what other processes have put in.
    private static let poll = Duration.seconds(10)
    /// How long it leaves another process the lease.
    private static let leasePause = Duration.seconds(1)
    /// Between two tries of a message, in seconds.
    static let pauseSeconds: Int64 = 60

    private let controller: NotificationsController
    private let users: any PasswordAuthenticator
    private let methods: [AuthenticationMethod]
    private let stopping = Atomic(false)
    private let hasBegun = Atomic(false)
    private let hasEnded = Latch()
    /// Messages that could not be sent, and when they are tried again.
    private let pauses = Lock<[String: Timestamp]>([:])
    /// Messages that are done with, and are in the list because the store could not take them from it.
    private let ended = Lock<Set<String>>([])

    init(_ controller: NotificationsController, users: any PasswordAuthenticator, methods: [AuthenticationMethod]) {
        (self.controller, self.users, self.methods) = (controller, users, methods)
    }

    /// Sends until `stop()`, on the thread that calls it.
    package func run() {
        hasBegun.store(true, ordering: .sequentiallyConsistent)
        defer { hasEnded.open() }
        var lastError: StoreError?
        while !isStopping {
            var pause = Self.poll
            do throws(StoreError) {
                pause = try sendDue()
                lastError = nil
            } catch {
                if error != lastError { warn("store: \(error)") }
                lastError = error
            }
            _ = controller.schedule.bell.wait(for: pause)
        }
    }

    /// Begins no other message from now on.
    package func stop() {
        stopping.store(true, ordering: .sequentiallyConsistent)
        controller.schedule.bell.signal()
    }

    /// After `stop()`, waits until `run()` has returned, but no longer than that.
    package func waitForEnd(_ duration: Duration) {
        guard hasBegun.load(ordering: .sequentiallyConsistent) else { return }
        hasEnded.wait(for: duration)
    }

    private var isStopping: Bool { stopping.load(ordering: .sequentiallyConsistent) }

    private func warn(_ text: String) { controller.logger.warning("scheduled messages: \(text)") }

    /// Sends what is due.
    /// - Returns: when to look again.
    package func sendDue() throws(StoreError) -> Duration {
        if try waiting().contains(where: isDue) {
            guard let lease = try store.acquireLease(of: .sends) else { return Self.leasePause }
            defer { lease.release() }
            // As they are now: another process may have sent some since the first look.
            for send in try waiting().filter(isDue).sorted(by: { $0.sendAt < $1.sendAt }) {
                guard !isStopping, lease.renew() else { return .zero }
                try begin(send)
            }
        }
        let next = try waiting().map(dueAt).min()
        return next.map { min(Self.poll, .seconds(max(0, $0.seconds - controller.now().seconds))) } ?? Self.poll
    }

    private var store: any WaitingStore { controller.schedule.store }

    private func waiting() throws(StoreError) -> [ScheduledSend] {
        let sends = try store.waiting(in: .sends).compactMap { ScheduledSend($0) }
        let known = Set(sends.map(\.id))
        pauses.withLock { pauses in pauses = pauses.filter { known.contains($0.key) } }
        ended.withLock { $0.formIntersection(known) }
        return sends
    }

    private func isDue(_ send: ScheduledSend) -> Bool { dueAt(send) <= controller.now() }

    private func dueAt(_ send: ScheduledSend) -> Timestamp {
        pauses.withLock { pauses in max(send.sendAt, pauses[send.id] ?? send.sendAt) }
    }

    /// Notes that it is begun, sends it and takes it from the list, unless its sender was faster.
    private func begin(_ send: ScheduledSend) throws(StoreError) {
        guard !ended.withLock({ $0.contains(send.id) }) else { return try store.removeWaiting([send.id], from: .sends) }
        var begun = send
        begun.hasBegun = true
        if !send.hasBegun {
            guard try store.changeWaiting(send.stored, to: begun.stored, in: .sends) else { return }
        }
        if let fault = fault(of: send) {
            let time = controller.now()
            guard fault.isFinal || send.sendAt + ScheduledSend.triedSeconds <= time else {
                pauses.withLock { $0[send.id] = time + Self.pauseSeconds }
                // Until the next try its sender may take it back.
                if fault.isHarmless { _ = try store.changeWaiting(begun.stored, to: send.stored, in: .sends) }
                return
            }
            warn("one was given up: \(fault.reason)")
            if fault.isHarmless { controller.rememberGivenUp(send) }
        }
        ended.withLock { _ = $0.insert(send.id) }
        try store.removeWaiting([send.id], from: .sends)
    }

    /// Why it was not sent.
    private struct Fault {
        let reason: String
        /// Whether it would be the same at the next try.
        let isFinal: Bool
        /// Whether it has certainly reached no device, and no inbox.
        var isHarmless = true

        init(reason: String, isFinal: Bool) {
            (self.reason, self.isFinal) = (reason, isFinal)
        }

        init(_ status: HTTPResponse.Status, _ field: String? = nil, isHarmless: Bool) {
            reason = "HTTP \(status.code)" + (field.map { ", \($0)" } ?? "")
            isFinal = status.kind == .clientError && status != .tooManyRequests
            self.isHarmless = isHarmless
        }
    }

    /// Sends it.
    /// - Returns: nil: the hub has it.
    private func fault(of send: ScheduledSend) -> Fault? {
        guard controller.now() < send.sendAt + ScheduledSend.lateSeconds else {
            return Fault(reason: "its time was more than a day ago", isFinal: true)
        }
        guard let message = send.message else { return Fault(reason: "it cannot be read", isFinal: true) }
        do {
            guard let sender = try sender(of: send) else {
                return Fault(reason: "its sender may not log in any more", isFinal: true)
            }
            var controller = controller
            controller.turn = .due(id: send.id, again: send.hasBegun)
            let http = Request(method: .post, path: Path.notifications, id: "scheduled")
            let answer = try controller.send(message, UserRequest(http: http, user: sender, route: nil))
            return answer.status.kind == .successful ? nil : Fault(answer.status, isHarmless: false)
        } catch let answer as NoSideEffects {
            return Fault(answer.response.status, isHarmless: true)
        } catch {
            guard let problem = Problem(error: error) else { return Fault(reason: "\(type(of: error))", isFinal: true) }
            return Fault(problem.status, problem.field, isHarmless: NoSideEffects.isRetrySafe(error))
        }
    }

    /// Nil for a user who is no more, or may not log in, and where senders are not authenticated in that way any more.
    private func sender(of send: ScheduledSend) throws -> Principal? {
        guard methods.contains(send.method), var sender = try users.account(ofOwner: send.owner)?.principal else {
            return nil
        }
        sender.tokenRoles = send.roles
        return sender.authenticated(by: send.method)
    }
}

extension NotificationsController {
    /// Has the timeline say that no platform got it. A failure of this changes nothing else.
    fileprivate func rememberGivenUp(_ send: ScheduledSend) {
        let time = now()
        guard let given = send.message else { return }
        let names = (try? platforms(of: given)) ?? notifications.platforms
        let message = SentMessage(
            id: send.id, owner: send.owner, to: given.to.text, sentAt: time, isSecure: given.isSecure,
            outcomes: names.map { .init(platform: $0.rawValue, state: "Abandoned") }, expiresAt: sentExpiry(time))
        do throws(StoreError) {
            try store.rememberSent(
                [], message: message, owner: send.owner, now: time, expiresAt: message.expiresAt)
        } catch {
            logger.warning("store: \(error)")
        }
    }
}
