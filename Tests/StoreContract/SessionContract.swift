// SPDX-License-Identifier: Apache-2.0
package import Store
import Testing
internal import Text

/// What every store of sessions and sends must do, whatever it keeps them in. Caps: 3 sessions and 4 sends per owner,
/// and 3 who have opened a message.
package struct SessionContract {
    private let store: any SessionStore & SendOwnership

    package init(store: any SessionStore & SendOwnership) { self.store = store }

    package func runAll() throws {
        try sessions()
        try sessionsOfOneOwner()
        try sessionQuota()
        try sent()
        try sentQuota()
        try messages()
        try messageOrder()
        try openings()
        try messageQuota()
    }

    private func session(_ id: String, _ owner: String, after seconds: Int64 = 0) -> Session {
        Session(
            id: id, owner: owner, binding: "b-" + id, createdAt: noon + seconds, expiresAt: nextDay + seconds)
    }

    private func create(_ session: Session) throws {
        try store.createSession(session, now: session.createdAt)
    }

    func sessions() throws {
        let first = session("s1", "ann")
        #expect(try store.session("s1", now: noon) == nil)
        try create(first)
        #expect(try store.session("s1", now: noon) == first)
        #expect(try store.session("s2", now: noon) == nil)
        #expect(throws: StoreError.conflict) { try create(session("s1", "ben")) }
        #expect(try store.session("s1", now: nextDay + -1) == first)
        #expect(try store.session("s1", now: nextDay) == nil)
        #expect(try store.removeSession("s1"))
        #expect(try !store.removeSession("s1"))
        #expect(try store.session("s1", now: noon) == nil)
        let strange = session("../\"é\n\\", "o\"wner\n")
        try create(strange)
        #expect(try store.session(strange.id, now: noon) == strange)
        #expect(try store.removeSessions(owner: strange.owner) == 1)
    }

    func sessionsOfOneOwner() throws {
        for id in ["c1", "c2"] { try create(session(id, "carl")) }
        try create(session("d1", "dora"))
        #expect(try store.removeSessions(owner: "carl") == 2)
        #expect(try store.removeSessions(owner: "carl") == 0)
        for id in ["c1", "c2"] { #expect(try store.session(id, now: noon) == nil) }
        #expect(try store.session("d1", now: noon) == session("d1", "dora"))
        #expect(try store.removeSessions(owner: "nobody") == 0)
        try create(session("c1", "carl"))
        #expect(try store.session("c1", now: noon) != nil)
        // In the order in which they began, which is not that of their ids.
        let (later, expired) = (session("c0", "carl", after: 9), session("c3", "carl", after: -9))
        for session in [later, expired] { try create(session) }
        #expect(try store.sessions(owner: "carl", now: noon) == [expired, session("c1", "carl"), later])
        #expect(try store.sessions(owner: "carl", now: nextDay + -9) == [session("c1", "carl"), later])
        #expect(try store.sessions(owner: "Carl", now: noon) == [] && store.sessions(owner: "c1", now: noon) == [])
        // They only look alike.
        try create(session("e1", "andr\u{E9}"))
        #expect(try store.removeSessions(owner: "andre\u{301}") == 0)
        #expect(try store.session("e1", now: noon) != nil)
    }

    func sessionQuota() throws {
        for index in 0..<5 { try create(session("q\(index)", "quinn", after: Int64(index))) }
        func alive(_ now: Timestamp) throws -> [String] {
            try (0..<8).map { "q\($0)" }.filter { try store.session($0, now: now) != nil }
        }
        #expect(try alive(noon + 5) == ["q2", "q3", "q4"])
        // An expired session does not count.
        try create(session("q5", "quinn", after: 86_403))
        #expect(try alive(nextDay + 3) == ["q4", "q5"])
        try create(session("q6", "quinn", after: 86_403))
        #expect(try alive(nextDay + 3) == ["q4", "q5", "q6"])
        try create(session("q7", "quinn", after: 86_403))
        #expect(try alive(nextDay + 3) == ["q5", "q6", "q7"])
    }

    func sent() throws {
        #expect(try !store.hasSent("n1", owner: "sue", now: noon))
        try store.rememberSent(["n1", "n2"], owner: "sue", now: noon, expiresAt: nextDay)
        try store.rememberSent([], owner: "sue", now: noon, expiresAt: nextDay)
        for id in ["n1", "n2"] {
            #expect(try store.hasSent(id, owner: "sue", now: nextDay + -1))
            #expect(try !store.hasSent(id, owner: "sue", now: nextDay))
            #expect(try !store.hasSent(id, owner: "tom", now: noon))
        }
        #expect(try !store.hasSent("n3", owner: "sue", now: noon))
    }

    func sentQuota() throws {
        func remembered() throws -> [String] {
            try (0..<9).map { "m\($0)" }.filter { try store.hasSent($0, owner: "max", now: noon) }
        }
        for index in 0..<6 {
            try store.rememberSent(["m\(index)"], owner: "max", now: noon, expiresAt: nextDay)
        }
        #expect(try remembered() == ["m2", "m3", "m4", "m5"])
        try store.rememberSent(["m6", "m7", "m8"], owner: "max", now: noon, expiresAt: nextDay)
        #expect(try remembered() == ["m5", "m6", "m7", "m8"])
    }

    /// A message is known as long as one of its sends is.
    func messageQuota() throws {
        let messages = "pqrstu".map { digit in
            SentMessage(
                id: String(repeating: digit, count: 22), owner: "mia", to: "max", sentAt: noon,
                outcomes: ["apns", "fcm"].map {
                    .init(platform: $0, state: "Enqueued", notificationID: "\(digit)-\($0)")
                },
                expiresAt: nextDay)
        }
        func remembered() throws -> [SentMessage] {
            try messages.filter { try store.sentMessage($0.id, owner: "mia", now: noon) == $0 }
        }
        for message in messages {
            try store.rememberSent(
                message.outcomes.compactMap(\.notificationID), message: message, owner: "mia", now: noon,
                expiresAt: nextDay)
        }
        #expect(try remembered() == messages.suffix(2))
        for (send, left) in [("one", 2), ("two", 1), ("three", 1), ("four", 0)] {
            try store.rememberSent([send], owner: "mia", now: noon, expiresAt: nextDay)
            #expect(try remembered() == messages.suffix(left), "\(send)")
        }
    }

    func messages() throws {
        let ids = ["A", "B", "C"].map { String(repeating: $0, count: 22) }
        let first = SentMessage(
            id: ids[0], owner: "vera", to: "wim\u{301}", recipient: "wim:1", sentAt: noon, isSecure: true, keptID: 7,
            outcomes: [
                .init(platform: "apns", state: "Enqueued", notificationID: "v1"),
                .init(platform: "browser", state: "Skipped"),
            ], expiresAt: nextDay)
        let second = SentMessage(id: ids[1], owner: "vera", to: "tag:news", sentAt: noon + 1, expiresAt: nextDay + 1)
        let other = SentMessage(
            id: ids[2], owner: "Vera", to: "vera", recipient: "vera", sentAt: noon + 2, expiresAt: nextDay)
        for message in [first, second, other] {
            try store.rememberSent(
                message.outcomes.compactMap(\.notificationID), message: message, owner: message.owner, now: noon,
                expiresAt: message.expiresAt)
        }
        for message in [first, second, other] {
            #expect(try store.sentMessage(message.id, now: noon) == message)
            #expect(try store.sentMessage(message.id, owner: message.owner, now: noon) == message)
        }
        #expect(try store.hasSent("v1", owner: "vera", now: noon))
        #expect(try store.sentMessage(ids[0], owner: "Vera", now: noon) == nil)
        #expect(try store.sentMessage(ids[0], owner: "vera", now: nextDay) == nil)
        #expect(try store.sentMessage(ids[0], now: nextDay) == nil)
        #expect(try store.sentMessage(String(repeating: "D", count: 22), now: noon) == nil)
        #expect(try store.sentMessages(owner: nil, limit: 9, now: noon) == [other, second, first])
        #expect(try store.sentMessages(owner: nil, limit: 2, now: noon) == [other, second])
        #expect(try store.sentMessages(owner: "vera", limit: 9, now: noon) == [second, first])
        #expect(try store.sentMessages(owner: "vera", limit: 1, now: nextDay) == [second])
        #expect(try store.sentMessages(owner: nil, limit: 0, now: noon) == [])
        try list([other, second, first])
    }

    /// - Parameter all: newest first, of different senders, and of two moments at least.
    private func list(_ all: [SentMessage]) throws {
        func listed(
            owner: String? = nil, behind place: SentMessage.Place?, limit: Int = 9,
            where isWanted: (SentMessage) -> Bool = { _ in true }
        ) throws -> [SentMessage] {
            try store.sentMessages(owner: owner, behind: place, limit: limit, now: noon, where: isWanted)
        }
        #expect(try listed(behind: all[0].place) == [all[1], all[2]])
        #expect(try listed(behind: all[0].place, limit: 1) == [all[1]])
        #expect(try listed(behind: all[2].place) == [])
        // A moment alone is before all messages of it, and one message of it is not behind itself.
        #expect(try listed(behind: .init(sentAt: all[0].sentAt)) == [all[1], all[2]])
        #expect(try listed(behind: .init(sentAt: all[0].sentAt + 1)) == all)
        #expect(try listed(owner: all[1].owner, behind: all[1].place) == [all[2]])
        // What is not wanted takes no place in the list.
        #expect(try listed(behind: nil, limit: 1) { $0.id == all[2].id } == [all[2]])
        #expect(try listed(behind: nil) { _ in false } == [])
    }

    /// Of one second the sequence decides; messages of earlier versions have none, and are behind, by their ids.
    func messageOrder() throws {
        let messages = [("J", 0), ("K", 0), ("H", 7), ("G", 8)].map { letter, sequence in
            SentMessage(
                id: String(repeating: letter, count: 22), owner: "otto", to: "max", sentAt: noon,
                sequence: Int64(sequence), expiresAt: nextDay)
        }
        for message in messages.shuffled() {
            try store.rememberSent([], message: message, owner: "otto", now: noon, expiresAt: nextDay)
        }
        func listed(behind place: SentMessage.Place?, limit: Int = 9) throws -> [SentMessage] {
            try store.sentMessages(owner: "otto", behind: place, limit: limit, now: noon) { _ in true }
        }
        #expect(try listed(behind: nil) == messages.reversed())
        for (index, message) in messages.enumerated() {
            #expect(try listed(behind: message.place) == messages[..<index].reversed())
        }
        #expect(
            try listed(behind: .init(sentAt: noon)) == []
                && listed(behind: .init(sentAt: noon + 1), limit: 2).count == 2)
    }

    func openings() throws {
        let (id, other) = (String(repeating: "E", count: 22), String(repeating: "F", count: 22))
        @discardableResult
        func open(_ id: String, _ opener: String) throws -> Bool {
            try store.noteOpening(MessageOpening(opener: opener, message: id, expiresAt: nextDay), now: noon)
        }
        #expect(try store.openings(ofMessage: id, now: noon) == 0)
        let openers = ["xena", "xena", "\u{E9}", "e\u{301}", "xena"]
        #expect(try openers.map { try open(id, $0) } == [true, false, true, true, false])
        #expect(try store.openings(ofMessage: id, now: noon) == 3)
        #expect(try store.openings(ofMessage: other, now: noon) == 0)
        for opener in ["yves", "zoe", "xena"] { try open(id, opener) }
        #expect(try store.openings(ofMessage: id, now: noon) == 3)
        #expect(try store.openings(ofMessage: id, now: nextDay) == 0)
    }
}
