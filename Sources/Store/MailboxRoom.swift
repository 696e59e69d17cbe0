// SPDX-License-Identifier: Apache-2.0
package import Text

/// Decides what leaves an owner's mailbox, so that a new notification finds room in it.
///
/// One sender may fill a share of a mailbox with what is unread, and no more. Where all of it is full, what was read
/// leaves first, then the oldest of the sender who holds most: so who fills a mailbox loses their own notifications,
/// not those of others.
///
/// Plain messages have room of their own. Keeping one is no reason to refuse a send: a sender who has filled a share of a full
/// mailbox, with what was read or not, loses their own before anybody else loses one.
package struct MailboxRoom {
    private let held: [NotificationSummary]
    private let maximum: Amount
    /// How much of it one sender may fill.
    private let share: Amount
    private let isPlain: Bool

    /// - Parameters:
    ///   - held: what the owner has, of either kind, without what has expired.
    ///   - isPlain: of which kind the new one is.
    package init(_ held: [NotificationSummary], _ quotas: Quotas, isPlain: Bool) {
        self.held = held.filter { $0.isPlain == isPlain }
        self.isPlain = isPlain
        if isPlain {
            maximum = Amount(count: quotas.plainMessagesPerOwner, bytes: quotas.plainMessageBytesPerOwner)
            share = Amount(count: quotas.plainMessagesPerSender, bytes: quotas.plainMessageBytesPerSender)
        } else {
            maximum = Amount(count: quotas.notificationsPerOwner, bytes: quotas.notificationBytesPerOwner)
            share = Amount(count: quotas.notificationsPerSender, bytes: quotas.notificationBytesPerSender)
        }
    }

    /// The ids of those that leave for a notification of that size.
    /// - Throws: `shareExceeded`, when its sender has left as much unread as one may; `quotaExceeded`, when it would fit
    ///   into no mailbox.
    package func leaving(for sender: String, adding size: Int, now: Timestamp) throws(StoreError) -> [Int32] {
        if !isPlain { try checkShare(of: sender, adding: size, now) }
        var held = held
        var left = Amount(held) + Amount(count: 1, bytes: size)
        var ids: [Int32] = []
        if isPlain {
            ids = leavingOfShare(of: sender, adding: size, left)
            left -= Amount(held.filter { ids.contains($0.id) })
            held.removeAll { ids.contains($0.id) }
        }
        for read in oldestFirst(held.filter(\.isRead)) where !left.fits(maximum) {
            ids.append(read.id)
            left -= Amount([read])
        }
        guard !left.fits(maximum) else { return ids }
        var senders = bySender(held.filter { !$0.isRead })
        while !left.fits(maximum) {
            let isCounted = left.count > maximum.count
            let largest = senders.indices.max { one, other in
                isCounted
                    ? senders[one].amount.count < senders[other].amount.count
                    : senders[one].amount.bytes < senders[other].amount.bytes
            }
            guard let largest, let oldest = senders[largest].rest.popFirst() else { throw .quotaExceeded }
            ids.append(oldest.id)
            senders[largest].amount -= Amount([oldest])
            left -= Amount([oldest])
        }
        return ids
    }

    /// The sender's own, what was read first and then the oldest, as far as the mailbox is full and they have more than their
    /// share of it.
    private func leavingOfShare(of sender: String, adding size: Int, _ all: Amount) -> [Int32] {
        let own = held.filter { $0.sender.hasSameBytes(as: sender) }
        var (all, left, ids) = (all, Amount(own) + Amount(count: 1, bytes: size), [Int32]())
        let inOrder = oldestFirst(own.filter(\.isRead)) + oldestFirst(own.filter { !$0.isRead })
        for oldest in inOrder where !all.fits(maximum) && !left.fits(share) {
            ids.append(oldest.id)
            all -= Amount([oldest])
            left -= Amount([oldest])
        }
        return ids
    }

    /// Who has waited longest first, so that of two who hold as much it is known whose turn it is.
    private func bySender(_ summaries: [NotificationSummary]) -> [(
        rest: ArraySlice<NotificationSummary>, amount: Amount
    )] {
        var senders: [(rest: ArraySlice<NotificationSummary>, amount: Amount)] = []
        var places: [[UInt8]: Int] = [:]
        for next in oldestFirst(summaries) {
            let place = places[Array(next.sender.utf8), default: senders.count]
            if place == senders.count { senders.append(([], Amount([]))) }
            places[Array(next.sender.utf8)] = place
            senders[place].rest.append(next)
            senders[place].amount = senders[place].amount + Amount([next])
        }
        return senders
    }

    /// - Throws: `shareExceeded`, with the time until enough of the sender's have expired.
    private func checkShare(of sender: String, adding size: Int, _ now: Timestamp) throws(StoreError) {
        let own = held.filter { !$0.isRead && $0.sender.hasSameBytes(as: sender) }
        var left = Amount(own) + Amount(count: 1, bytes: size)
        guard !left.fits(share) else { return }
        for next in own.sorted(by: { $0.expiresAt < $1.expiresAt }) {
            left -= Amount([next])
            guard left.fits(share) else { continue }
            let (seconds, overflow) = next.expiresAt.seconds.subtractingReportingOverflow(now.seconds)
            throw .shareExceeded(retryAfterSeconds: overflow ? .max : max(1, Int(clamping: seconds)))
        }
        throw .quotaExceeded
    }

    private func oldestFirst(_ summaries: [NotificationSummary]) -> [NotificationSummary] {
        summaries.sorted { $0.isOlder(than: $1) }
    }
}

private struct Amount {
    var count: Int
    var bytes: Int

    init(count: Int, bytes: Int) {
        (self.count, self.bytes) = (count, bytes)
    }

    init(_ summaries: [NotificationSummary]) {
        self.init(count: summaries.count, bytes: summaries.reduce(0) { $0 + $1.size })
    }

    func fits(_ maximum: Amount) -> Bool { count <= maximum.count && bytes <= maximum.bytes }

    static func + (one: Amount, other: Amount) -> Amount {
        Amount(count: one.count + other.count, bytes: one.bytes + other.bytes)
    }

    static func -= (one: inout Amount, other: Amount) {
        one = Amount(count: one.count - other.count, bytes: one.bytes - other.bytes)
    }
}
