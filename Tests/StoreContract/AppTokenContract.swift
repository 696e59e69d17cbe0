// SPDX-License-Identifier: Apache-2.0
package import Store
import Testing
internal import Text

/// What every store of app tokens must do, whatever it keeps them in. Cap: 3 tokens per owner.
package struct AppTokenContract {
    private let store: any AppTokenStore

    package init(store: any AppTokenStore) { self.store = store }

    package func runAll() throws {
        try tokens()
        try uses()
        try boundRecipients()
        try tokensOfOneOwner()
        try tokensOfEpochs()
        try quota()
    }

    private func token(_ id: String, _ owner: String, after seconds: Int64 = 0, ends: Timestamp? = nil) -> AppToken {
        AppToken(
            id: id, hash: "h-" + id, owner: owner, epoch: 2, scopes: ["send", "read"], recipients: ["ben"],
            label: "a \"label\"\n", createdAt: noon + seconds, expiresAt: ends)
    }

    private func create(_ token: AppToken) throws {
        try store.createAppToken(token, now: token.createdAt)
    }

    func tokens() throws {
        let first = token("t1", "ann", ends: nextDay)
        #expect(try store.appToken("t1", now: noon) == nil)
        try create(first)
        #expect(try store.appToken("t1", now: noon) == first)
        #expect(try store.appToken("t2", now: noon) == nil)
        #expect(throws: StoreError.conflict) {
            var other = token("t1", "ben")
            other.hash = "another"
            try create(other)
        }
        #expect(try store.appToken("t1", now: nextDay + -1) == first)
        #expect(try store.appToken("t1", now: nextDay) == nil)
        #expect(try !store.removeAppToken("t1", owner: "ben"))
        #expect(try store.removeAppToken("t1", owner: "ann"))
        #expect(try !store.removeAppToken("t1", owner: "ann"))
        #expect(try store.appToken("t1", now: noon) == nil)
        var plain = token("../\"é\n\\", "o\"wner\n")
        (plain.recipients, plain.scopes, plain.label, plain.epoch) = (nil, [], "", 0)
        try create(plain)
        #expect(try store.appToken(plain.id, now: noon + 400 * 86_400) == plain)
        #expect(try store.removeAppTokens(owner: plain.owner) == 1)
    }

    func uses() throws {
        var used = token("u1", "uma")
        try create(used)
        for time in [noon + 5, noon + 1] {
            try store.noteUse(ofAppToken: "u1", at: time)
            used.lastUsedAt = time
            #expect(try store.appToken("u1", now: noon) == used)
            #expect(try store.appTokens(owner: "uma", now: noon) == [used])
        }
        #expect(try store.removeAppToken("u1", owner: "uma"))
        try store.noteUse(ofAppToken: "u1", at: noon)
        #expect(try store.appToken("u1", now: noon) == nil)
    }

    func boundRecipients() throws {
        var old = token("b1", "bea")
        try create(old)
        try store.bindRecipients(ofAppToken: "b1", to: ["ben:1"])
        old.recipientOwners = ["ben:1"]
        #expect(try store.appToken("b1", now: noon) == old)
        // Who was first stays.
        try store.bindRecipients(ofAppToken: "b1", to: ["ben:2"])
        try store.noteUse(ofAppToken: "b1", at: noon + 1)
        old.lastUsedAt = noon + 1
        #expect(try store.appTokens(owner: "bea", now: noon) == [old])
        #expect(try store.removeAppToken("b1", owner: "bea"))
        try store.bindRecipients(ofAppToken: "b1", to: ["ben:1"])
        #expect(try store.appToken("b1", now: noon) == nil)
    }

    func tokensOfOneOwner() throws {
        for (index, id) in ["c2", "c1"].enumerated() { try create(token(id, "carl", after: Int64(index))) }
        try create(token("d1", "dora"))
        try create(token("c3", "carl", ends: noon + 9))
        #expect(try store.appTokens(owner: "carl", now: noon + 9).map(\.id) == ["c2", "c1"])
        #expect(try store.removeAppTokens(owner: "carl") == 3)
        #expect(try store.removeAppTokens(owner: "carl") == 0)
        #expect(try store.appTokens(owner: "carl", now: noon) == [])
        #expect(try store.appToken("c1", now: noon) == nil)
        #expect(try store.appTokens(owner: "dora", now: noon).map(\.id) == ["d1"])
        // They only look alike.
        try create(token("e1", "andr\u{E9}"))
        #expect(try store.removeAppTokens(owner: "andre\u{301}") == 0)
        #expect(try store.appToken("e1", now: noon) != nil)
    }

    func tokensOfEpochs() throws {
        for epoch in 1...3 {
            var token = token("f\(epoch)", "fay")
            token.epoch = epoch
            try create(token)
        }
        #expect(try store.removeAppTokens(owner: "fay", before: 1) == 0)
        #expect(try store.removeAppTokens(owner: "fay", before: 3) == 2)
        #expect(try store.appTokens(owner: "fay", now: noon).map(\.id) == ["f3"])
        #expect(try store.appToken("f2", now: noon) == nil)
    }

    func quota() throws {
        for index in 0..<2 { try create(token("q\(index)", "quinn")) }
        try create(token("q2", "quinn", ends: noon + 9))
        #expect(throws: StoreError.quotaExceeded) { try create(token("q3", "quinn")) }
        #expect(try store.appToken("q3", now: noon) == nil)
        // An expired token does not count.
        try create(token("q4", "quinn", after: 9))
        #expect(throws: StoreError.quotaExceeded) { try create(token("q5", "quinn", after: 9)) }
        #expect(try store.removeAppToken("q0", owner: "quinn"))
        try create(token("q5", "quinn", after: 9))
        #expect(try store.appTokens(owner: "quinn", now: noon + 9).map(\.id) == ["q1", "q4", "q5"])
    }
}
