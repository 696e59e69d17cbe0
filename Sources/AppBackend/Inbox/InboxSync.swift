// SPDX-License-Identifier: Apache-2.0
package import Logging
import NotificationHub
package import Store
import System
package import Text

/// Tells a user's devices by a silent push what the user has read or removed on one of them. All that comes between two runs is
/// one push a user, because Apple lets few of them through.
package final class InboxSync: Sendable {
    /// Users of one run; what others have read meanwhile is not told.
    static let maximumOwners = 10_000
    /// Ids in one push: the newest. An app that misses some asks for the inbox.
    static let maximumIDs = 50

    private let changes = Lock<[String: [Int32]]>([:])

    package init() {}

    func note(_ id: Int32, owner: String) {
        changes.withLock { changes in
            guard changes.count < Self.maximumOwners || changes[owner] != nil else { return }
            changes[owner, default: []].append(id)
            if let count = changes[owner]?.count, count > Self.maximumIDs { changes[owner]?.removeFirst() }
        }
    }

    /// Sends what came since the last run. When the hub or the store cannot be reached, or the time is over, what remains waits
    /// for the next run. What fails otherwise is not told: the next look at the inbox shows it. One line of the log says why.
    /// - Parameter duration: how long this may take.
    package func run(
        _ store: any StateStore, _ notifications: Notifications, now: Timestamp, within duration: Duration,
        logger: Logger
    ) {
        var due = changes.withLock { changes in
            defer { changes = [:] }
            return changes
        }
        let end = ContinuousClock.now + duration
        var fault: String?
        owners: for (owner, ids) in due {
            guard ContinuousClock.now < end else { break owners }
            do {
                let unread = try store.mailboxState(owner: owner, now: now).unread
                let messages = OutgoingMessage.messages(
                    to: .tag(try TagPolicy.userTag(owner)), on: notifications.platforms, templates: []
                ) { Payload.inboxChange(ids, unread: unread, to: $0) }
                let send = notifications.send(messages, by: owner, requestID: "inbox")
                let answered = Latch()
                send.answers.onEnd { answered.open() }
                answered.wait(for: end - .now)
                if let error = send.result.firstError {
                    fault = fault ?? "hub: \(error)"
                    if error.isAway { break owners }
                }
            } catch let error as StoreError {
                fault = fault ?? "store: \(error)"
                break owners
            } catch {
                // The longest names of users have no tag, and no devices.
            }
            due[owner] = nil
        }
        keep(due)
        if let fault { logger.warning("\(fault)") }
    }

    /// What was not sent comes before what was noted meanwhile.
    private func keep(_ rest: [String: [Int32]]) {
        guard !rest.isEmpty else { return }
        changes.withLock { changes in
            for (owner, ids) in rest where changes.count < Self.maximumOwners || changes[owner] != nil {
                changes[owner] = Array((ids + changes[owner, default: []]).suffix(Self.maximumIDs))
            }
        }
    }
}

extension HubError {
    /// Whether the next send would fare no better.
    fileprivate var isAway: Bool {
        switch self {
        case .unreachable, .unavailable, .throttled: true
        default: false
        }
    }
}
