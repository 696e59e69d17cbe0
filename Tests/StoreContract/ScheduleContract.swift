// SPDX-License-Identifier: Apache-2.0
import JSON
internal import Store
import Testing
internal import Text

/// What every `HubQueue` must do with messages that wait for their time.
struct ScheduleContract {
    let store: any HubStore & HubQueue
    /// In another hour than noon, and not at its beginning.
    private let later = noon + 2 * 3_600 + 1_234

    private func message(_ id: String, at time: Timestamp?, createdAt: Timestamp = noon) -> HubMessage {
        HubMessage(
            id: id, document: .string("new"), createdAt: createdAt, notBefore: time,
            expiresAt: (time ?? createdAt) + 86_400)
    }

    func run() throws {
        try waiting()
        try order()
        try ends()
    }

    private func due(_ now: Timestamp, limit: Int = 9) throws -> [HubMessage] {
        try store.dueHubMessages(except: [], limit: limit, now: now).messages
    }

    private func waiting() throws {
        let (message, other) = (message("w-1", at: later), message("w-2", at: later + 5 * 86_400))
        try store.enqueueHubMessage(other)
        let before = store.hubQueueRevision(now: noon)
        try store.enqueueHubMessage(message)
        #expect(store.hubQueueRevision(now: noon) != before)
        #expect(try store.queuedHubMessage("w-1", notBefore: later) == message)
        for time in [noon, later + -1] {
            let backlog = try store.hubQueueBacklog(now: time)
            #expect(backlog.messages == 0 && backlog.oldest == nil)
        }
        // A caller that looks at each `next` finds it at its second, and not before.
        var (now, looks) = (noon, 0)
        while try due(now).isEmpty {
            let next = try #require(try store.dueHubMessages(except: [], limit: 9, now: now).next)
            #expect(next > now && next <= later)
            (now, looks) = (next, looks + 1)
            try #require(looks < 9)
        }
        #expect(now == later)
        #expect(try due(later) == [message])
        let backlog = try store.hubQueueBacklog(now: later + 7)
        #expect(backlog.messages == 1 && backlog.oldest == later)
        #expect(try store.queuedHubMessage("w-1", notBefore: later) == message)
        try store.removeQueuedHubMessages([message])
        #expect(try due(later) == [])
        #expect(try due(later + 6 * 86_400) == [other])
        try store.removeQueuedHubMessages([other])
    }

    /// What was due first comes first, wherever it is kept, and so many as are asked for.
    private func order() throws {
        let messages = [
            message("o-1", at: later), message("o-2", at: nil, createdAt: later + 1), message("o-3", at: later + 2),
            message("o-4", at: later + 9_000),
        ]
        for message in messages.reversed() { try store.enqueueHubMessage(message) }
        #expect(try due(later + 9_000) == messages)
        for limit in 0...4 {
            #expect(try due(later + 9_000, limit: limit) == Array(messages.prefix(limit)))
        }
        let others = try store.dueHubMessages(except: ["o-1", "o-4"], limit: 9, now: later + 9_000)
        #expect(others.messages == [messages[1], messages[2]])
        // A store may look again for a message that was removed before its time.
        #expect(others.next.map { $0 > later + 9_000 } ?? true)
        try store.removeQueuedHubMessages(messages)
    }

    private func ends() throws {
        let messages = (1...3).map { message("e-\($0)", at: later + Int64($0) * 3_600) }
        for message in messages { try store.enqueueHubMessage(message) }
        // One that is not due yet leaves as well.
        try store.removeQueuedHubMessages([messages[2]])
        #expect(try store.queuedHubMessage("e-3", notBefore: messages[2].notBefore) == nil)
        let end = later + 4 * 3_600
        #expect(try due(end) == Array(messages.prefix(2)))
        var changed = Array(messages.prefix(2))
        for index in changed.indices { changed[index].document = .string("changed") }
        try store.updateQueuedHubMessages(changed)
        #expect(try due(end) == changed)
        changed[0].document = .string("done")
        try store.finishQueuedHubMessages([changed[0]])
        #expect(try due(end) == [changed[1]])
        let done = try #require(try store.hubMessage("e-1", now: noon))
        #expect(done.document == .string("done"))
        try store.removeQueuedHubMessages([changed[1]])
        #expect(try due(end) == [])
        #expect(try store.hubQueueBacklog(now: end).messages == 0)
    }
}
