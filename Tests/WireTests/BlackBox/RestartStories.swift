// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Support
import Synchronization
import Testing

import class System.Lock

extension WireTests {
    /// That a responder may be restarted while others send: nothing is lost and nothing is done twice, and why that
    /// takes a new connection for each POST.
    struct RestartStories {
        @Test func `of the POSTs over 20 restarts none fails, and each is done once`() async throws {
            try await WireSite.run(WireSite.Options(isHandedSocket: true)) { site in
                let senders = try (1...8).map { Sender(try site.importUser("sender\($0)"), site) }
                _ = together(senders.count + 1) { number in
                    guard number > 0 else { return try restart(site.backend, among: senders) }
                    try senders[number - 1].run()
                }
                for sender in senders { try sender.expectEachOnce() }
                // Each send goes to the hub once for each of the four platforms.
                let sent = senders.map { $0.acknowledged.count }.reduce(0, +)
                #expect(try sent >= 160 && site.sendsAtHub() == 4 * sent)
            }
        }

        private func restart(_ backend: BackendProcess, among senders: [Sender]) throws {
            defer { senders.forEach { $0.end() } }
            for _ in 1...20 {
                try #require(senders.allSatisfy { $0.isCarried() })
                #expect(backend.stop() == 0)
                try backend.start()
            }
            try #require(senders.allSatisfy { $0.isCarried() })
        }

        @Test func `a POST whose responder dies at it is not done again, and the answer says so`() throws {
            try tell(ScriptedResponder.Script(deadlyPosts: 1)) { site, responder throws in
                let answer = try site.call(.post, Path.notifications)
                #expect(answer.status == .serviceUnavailable)
                #expect(answer.fields[.contentType] == Problem.contentType)
                #expect(responder.posts == 1)
            }
        }

        /// The usual advice against lost POSTs, and what is wrong with it.
        @Test func `with non_idempotent nginx would do it again`() throws {
            let keptForAll = [
                FrontDoor.Edit(
                    file: "snippets/app-backend-params.conf", text: "fastcgi_next_upstream error;",
                    replacement: "fastcgi_next_upstream error non_idempotent;"), Self.keptForPosts,
            ]
            try tell(ScriptedResponder.Script(deadlyPosts: 1), edits: keptForAll) { site, responder throws in
                // So that there is a kept connection.
                #expect(try site.call(.get, Path.register).status == .ok)
                #expect(try site.call(.post, Path.notifications).status == .ok)
                #expect(responder.posts == 2)
            }
        }

        @Test func `kept connections that end are no matter to a POST, nor to what may be repeated`() throws {
            try tell(ScriptedResponder.Script(closesKeptConnections: true)) { site, responder throws in
                for method in [HTTPRequest.Method.get, .put, .delete, .post, .post, .get] {
                    #expect(try site.call(method, Path.register).status == .ok, "\(method)")
                }
                #expect(responder.posts == 2)
            }
        }

        @Test func `on a kept connection a POST would fail that no responder has seen`() throws {
            try tell(ScriptedResponder.Script(closesKeptConnections: true), edits: [Self.keptForPosts]) {
                site, responder throws in
                #expect(try site.call(.get, Path.register).status == .ok)
                #expect(try site.call(.post, Path.notifications).status == .serviceUnavailable)
                #expect(responder.posts == 0)
            }
        }

        private static let keptForPosts = FrontDoor.Edit(
            file: "conf.d/app-backend-upstream.conf", text: "POST    app_backend_once;", replacement: "")

        private func tell(
            _ script: ScriptedResponder.Script, edits: [FrontDoor.Edit] = [],
            _ story: (DoorSite, ScriptedResponder) throws -> Void
        ) throws {
            let scratch = try ScratchFolder()
            let responder = try ScriptedResponder(in: scratch, script)
            defer { #expect(responder.stop()) }
            try DoorSite.run(before: responder.socket, in: scratch, changing: { $0.edits = edits + [.keptForLong] }) {
                site throws in
                try story(site, responder)
            }
        }
    }
}

/// A user who leaves one secret after the other for themselves, and keeps account.
private final class Sender: Sendable {
    private let user: WireUser
    private let site: WireSite
    /// Begins each of their texts. A search of the logs for thousands of texts would take minutes.
    private let word: String
    private let sent = Lock<[Int32: String]>([:])
    private let isOver = Atomic(false)
    /// Below what one sender may leave unread with one user.
    private static let most = 450

    init(_ user: WireUser, _ site: WireSite) {
        self.user = user
        self.site = site
        word = site.secrets.make("once ")
    }

    var acknowledged: [Int32: String] { sent.withLock(\.self) }

    /// - Throws: `Problem`, for the first that is not acknowledged.
    func run() throws {
        while !isOver.load(ordering: .acquiring), acknowledged.count < Self.most {
            let text = "\(word) \(acknowledged.count)"
            let id = try site.sendSecure(text, from: user, to: user)
            sent.withLock { $0[id] = text }
        }
    }

    /// Whether a few more were acknowledged, as far as the user sends any more.
    func isCarried() -> Bool {
        let target = min(acknowledged.count + 2, Self.most)
        return Deadline.poll(seconds: 60) { acknowledged.count >= target }
    }

    func end() { isOver.store(true, ordering: .releasing) }

    /// What is there is what was acknowledged.
    func expectEachOnce() throws {
        var found: [Int32: String] = [:]
        var query = "limit=100"
        while true {
            let answer = try site.call(.get, Path.notifications, query: query, as: user)
            let ids = try #require(try JSONValue(parsing: answer.body).array).compactMap { $0["Id"]?.integer }
            for id in ids.compactMap({ Int32(exactly: $0) }) {
                #expect(found.updateValue(try site.readSecure(id, as: user) ?? "", forKey: id) == nil)
            }
            guard let last = ids.last else { break }
            query = "limit=100&after=\(last)"
        }
        #expect(found == acknowledged)
    }
}
