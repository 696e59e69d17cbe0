// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Logging
package import Store
package import System
import Text

/// Sends users' messages for later when their time has come, as their senders could send them then: what has become of rights, users
/// and devices since counts.
///
/// Of all processes on one store the one that holds the lease looks, and of two that begin the same message one succeeds. A process
/// that is killed while it sends one leaves it to the next.
package final class ScheduledSender: Sendable {
    private static let poll = Duration.seconds(SendSchedule.pollSeconds)
    /// The shortest time between two looks.
    private static let pause = Duration.seconds(1)

    private let controller: NotificationsController
    private let users: any PasswordAuthenticator
    private let methods: [AuthenticationMethod]
    /// Messages that are done with, and are in the list because the store could not take them from it.
    private let ended = Lock<Set<String>>([])

    init(_ controller: NotificationsController, users: any PasswordAuthenticator, methods: [AuthenticationMethod]) {
        (self.controller, self.users, self.methods) = (controller, users, methods)
    }

    /// Sends until its loop is stopped, on the thread that calls it.
    package func run() {
        loop.run(pause: Self.poll, report: { warn("store: \($0)") }, sendDue)
    }

    package var loop: WorkLoop { controller.schedule.loop }

    private func warn(_ text: String) { controller.logger.warning("scheduled messages: \(text)") }

    /// Sends what is due.
    /// - Returns: when to look again.
    package func sendDue() throws(StoreError) -> Duration {
        var sends = try waiting()
        if sends.contains(where: isDue) {
            guard let lease = try store.acquireLease(of: .sends) else { return Self.pause }
            defer { lease.release() }
            // As they are now: another process may have sent some since the first look.
            for send in try waiting().filter(isDue).sorted(by: { $0.place < $1.place }) {
                guard !loop.isStopping, lease.renew() else { return Self.pause }
                try begin(send)
            }
            sends = try waiting()
        }
        let next = sends.map(\.dueAt).min()
        return next.map { min(Self.poll, max(Self.pause, .seconds($0.seconds - controller.now().seconds))) }
            ?? Self.poll
    }

    private var store: any WaitingStore { controller.schedule.store }

    private func waiting() throws(StoreError) -> [ScheduledSend] {
        let sends = try controller.schedule.all()
        let known = Set(sends.map(\.id))
        ended.withLock { $0.formIntersection(known) }
        return sends
    }

    private func isDue(_ send: ScheduledSend) -> Bool { send.dueAt <= controller.now() }

    /// Notes that it is begun, sends it and takes it from the list, unless its sender or another process was faster.
    private func begin(_ send: ScheduledSend) throws(StoreError) {
        guard try !isDone(send) else { return try store.removeWaiting([send.id], from: .sends) }
        let time = controller.now()
        let isLate = (send.triedAt ?? send.sendAt) + ScheduledSend.lateSeconds <= time
        let begun = send.begun(at: time)
        guard try store.changeWaiting(send.stored, to: begun, in: .sends) else { return }
        if let fault = isLate ? .tooLate : fault(of: send) {
            guard fault.isFinal || (send.triedAt ?? time) + ScheduledSend.triedSeconds <= time else {
                _ = try store.changeWaiting(begun, to: send.paused(at: controller.now()), in: .sends)
                return
            }
            warn("\(send.id) was given up: \(fault.reason)")
            controller.rememberGivenUp(send)
        }
        ended.withLock { _ = $0.insert(send.id) }
        try store.removeWaiting([send.id], from: .sends)
    }

    /// Whether it only has to be taken from the list: this process knows that, or one that was killed has noted what it has sent.
    private func isDone(_ send: ScheduledSend) throws(StoreError) -> Bool {
        if ended.withLock({ $0.contains(send.id) }) { return true }
        guard send.hasBegun else { return false }
        return try controller.store.sentMessage(send.id, now: controller.now()) != nil
    }

    /// Why it was not sent: it has reached no device.
    private struct Fault {
        static let tooLate = Fault(reason: "its time was more than a day ago", isFinal: true)

        let reason: String
        /// Whether it would be the same at the next try.
        let isFinal: Bool

        init(reason: String, isFinal: Bool) {
            (self.reason, self.isFinal) = (reason, isFinal)
        }

        init(_ status: HTTPResponse.Status, _ field: String? = nil) {
            reason = "HTTP \(status.code)" + (field.map { ", \($0)" } ?? "")
            isFinal = status.kind == .clientError && status != .tooManyRequests
        }
    }

    /// Sends it.
    /// - Returns: nil: the hub has it, or may have it, and it is not sent again.
    private func fault(of send: ScheduledSend) -> Fault? {
        guard var message = send.message else { return Fault(reason: "it cannot be read", isFinal: true) }
        do {
            guard let recipients = try recipients(of: message, send) else {
                return Fault(reason: "its recipient was removed", isFinal: true)
            }
            message.to = recipients
            guard let sender = try sender(of: send) else {
                return Fault(reason: "its sender may not log in any more", isFinal: true)
            }
            return try fault(of: message, by: sender, send)
        } catch {
            return Fault(Problem(error: error)?.status ?? .internalServerError)
        }
    }

    private func fault(of message: PushMessage, by sender: Principal, _ send: ScheduledSend) throws -> Fault? {
        var controller = controller
        controller.turn = .due(id: send.id, again: send.hasBegun)
        let http = Request(method: .post, path: Path.notifications, id: "scheduled")
        do {
            _ = try controller.send(message, UserRequest(http: http, user: sender, route: nil))
            return nil
        } catch let answer as NoSideEffects {
            return Fault(answer.response.status)
        } catch {
            guard let problem = Problem(error: error) else { throw error }
            // A device that is gone, or has other tags now, is no reason not to send.
            if message.fromDevice != nil, problem.field == PushMessage.Member.fromDevice.rawValue {
                var others = message
                others.fromDevice = nil
                return try fault(of: others, by: sender, send)
            }
            return Fault(problem.status, problem.field)
        }
    }

    /// Those of the recipients who are whom the sender meant: who was removed has no messages, nor does the next user of the name
    /// or of the device.
    /// - Returns: nil, when none is left.
    private func recipients(
        of message: PushMessage, _ send: ScheduledSend
    ) throws(StoreError) -> PushMessage.Recipients? {
        let owners = try controller.owners(of: message.to)
        let others = owners.owners.filter { send.recipients.isAnother($0.key, $0.value) }
        guard !others.isEmpty else { return message.to }
        let texts = message.to.texts.filter { text in Recipient.ownedName(text).map { others[$0] == nil } ?? true }
        return texts.isEmpty ? nil : .several(texts)
    }

    /// Nil for a user who was removed, or may not log in, and where senders are not authenticated in that way any more.
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
            id: send.id, owner: send.owner, to: given.to.text, sentAt: time, sequence: schedule.sequence.next(),
            isSecure: given.isSecure, outcomes: names.map { .init(platform: $0.rawValue, state: "Abandoned") },
            expiresAt: sentExpiry(time))
        do throws(StoreError) {
            // A process that was killed may have sent it.
            guard try store.sentMessage(send.id, now: time) == nil else { return }
            try store.rememberSent(
                [], message: message, owner: send.owner, now: time, expiresAt: message.expiresAt)
            changes.webhooks?.awaitOutcome(of: message)
        } catch {
            logger.warning("store: \(error)")
        }
    }
}
