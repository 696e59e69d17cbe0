// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Support
import Synchronization
import Testing
import Text

/// Sites with an inbox, whose hub may be in trouble, and a message for later from bob to alice.
struct ScheduledScene {
    let hub = TroubledHub()

    func site(_ adjust: (inout Backend.Parts) -> Void = { _ in }) throws -> TestSite {
        try TestSite(
            users: ["alice", "bob", "carol"],
            adjusting: {
                $0.plainSeconds = 30 * 86_400
                adjust(&$0)
            }, surroundingHub: hub.surround)
    }

    /// One of bob's for alice, in a minute.
    /// - Returns: its id.
    func schedule(at site: TestSite, secure: Bool = false, fields: HTTPFields = [:]) throws -> String {
        let message = PushMessage(
            to: "alice", body: "Hi", isSecure: secure, platforms: ["apns"], sendAt: site.time(60))
        return try #require(try SendOutcome(site.send(message, fields: fields)).messageID)
    }

    func inboxCount(at site: TestSite) throws -> Int {
        try Inbox(site.call(.get, Path.inbox, as: "alice")).messages.count
    }
}

/// A hub that does not take what is sent.
final class TroubledHub: Sendable {
    enum Trouble: UInt8, AtomicRepresentable, Sendable {
        case none
        /// It answers that it has done nothing.
        case refusing
        /// It does not answer.
        case silent
    }

    let trouble = Atomic(Trouble.none)

    func surround(_ hub: any Responder) -> any Responder {
        ClosureResponder { [self] request in
            switch trouble.load(ordering: .relaxed) {
            case .none: return try hub.respond(to: request)
            case .refusing: return Response(status: .tooManyRequests)
            case .silent: throw NoAnswer()
            }
        }
    }
}
