// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store
package import Text

/// A mailbox as it was when it was read.
struct KnownMailbox: Sendable {
    let owner: String
    let state: MailboxState
    /// When it was read, and when the first of its notifications expires: in between it is as it was.
    let validity: Range<Timestamp>
}

extension FileSiteStore {
    package func mailboxState(owner: String, now: Timestamp) throws(StoreError) -> MailboxState {
        if let known = mailboxCache.record(owner), known.owner.hasSameBytes(as: owner), known.validity.contains(now) {
            return known.state
        }
        let asked = FileIdentity.clock
        guard let (file, _) = try notificationTable.open(notificationTable.hash(of: owner), O_RDONLY) else {
            return MailboxState([], context.hash)
        }
        let content = BucketContent(bytes: [], name: file.name, identity: try file.identity())
        let live = try mailbox(owner) { (body) throws(StoreError) in
            try BucketTable.forEachPiece(of: file, body)
        }.values.filter { $0.expiresAt > now }
        let state = MailboxState(live, context.hash)
        let end = live.map(\.expiresAt).min() ?? Timestamp(seconds: .max)
        mailboxCache.remember(
            KnownMailbox(owner: owner, state: state, validity: now..<max(now, end)), as: owner,
            bytes: 2 * owner.utf8.count + state.revision.utf8.count, of: content, in: context, asked: asked)
        return state
    }

    package func payloads(of ids: [Int32], owner: String, now: Timestamp) throws(StoreError) -> [Int32: String] {
        guard let (file, _) = try notificationTable.open(notificationTable.hash(of: owner), O_RDONLY) else {
            return [:]
        }
        let wanted = Set(ids)
        let probe = LinePrefilter(notificationTable.schema, key: owner, id: nil)
        var found: [Int32: String] = [:]
        try BucketTable.forEachPiece(of: file) { piece in
            piece.forEachLine { raw in
                if case .other = probe.examine(raw.bytes) { return }
                // What is not asked for is not parsed.
                if let own = LinePrefilter.numbered(raw.bytes), !wanted.contains(own.id) { return }
                guard let line = notificationTable.decode(raw, of: piece), line.key.hasSameBytes(as: owner),
                    let id = line.id.integer.flatMap(Int32.init(exactly:)), wanted.contains(id)
                else { return }
                switch line.op {
                case nil:
                    let whole = SecureNotification(line: line.value)
                    found[id] = whole.flatMap { $0.expiresAt > now ? $0.payload : nil }
                case deleteOp: found[id] = nil
                case _?: break
                }
            }
        }
        return found
    }
}

extension MailboxState {
    /// Tokens are drawn at random, and no client chooses one. So a sum of their hashes is another one after each change.
    fileprivate init(_ live: [NotificationSummary], _ hash: SipHash) {
        var sum: UInt64 = 0
        for one in live { sum &+= hash.hash(one.token + (one.isRead ? "-" : "+")) }
        self.init(unread: live.count { !$0.isRead }, revision: "\(live.count)-" + String(sum, radix: 16))
    }
}
