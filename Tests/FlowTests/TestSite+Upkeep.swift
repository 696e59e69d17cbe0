// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Synchronization
import Text

import class System.Lock

extension TestSite {
    /// As one process has it; each call makes another process's.
    func upkeep(_ policy: TagPolicy = TagPolicy()) -> UserUpkeep {
        let clock = clock
        return UserUpkeep(
            store: store, hub: hubClient, policy: policy, now: { Timestamp(seconds: clock.seconds) }, report: { _ in })
    }

    /// As `user add` does it; the password is the one that all users of that name have.
    func addAgain(_ name: String) throws {
        let former = try store.userRecord(name)
        let hash = try PasswordHash.make("\(name)-secret")
        guard let user = try User(name: name, passwordHash: hash, after: former, now: Timestamp(seconds: clock.seconds))
        else { throw StoreError.conflict }
        _ = try store.putUser(user)
    }

    /// Lets time pass and does what is due, as a running service does it.
    func keepUp(for seconds: Int64) throws {
        for _ in 0..<seconds / 10 {
            clock.advance(10)
            try upkeep().run()
        }
    }

    /// Sends a plain text.
    /// - Returns: how many devices of Apple's were found.
    func targets(to recipient: String, from sender: String) throws -> Int {
        let response = call(
            .post, Path.notifications, query: "pns=apns&to_tag=\(recipient)", as: sender, body: #""hello""#)
        guard response.status == .ok else { throw Problem(response) }
        let sent = try JSONValue(parsing: response.body)
        let id = sent["Outcomes"]?.array?.first?["NotificationId"]?.string ?? ""
        let outcome = try JSONValue(parsing: call(.get, Path.outcomes + "/" + id, as: sender).body)
        let counts = outcome["Outcomes"]?.array?.first?["Counts"]?.members ?? []
        return counts.compactMap(\.value.integer).reduce(0, +)
    }

    /// Leaves a secret for a user.
    /// - Returns: its id.
    func leaveSecret(_ text: String, for recipient: String, from sender: String) throws -> Int {
        let response = call(.post, Path.notifications, query: "to_tag=\(recipient)", as: sender, body: "\"\(text)\"")
        guard response.status == .ok else { throw Problem(response) }
        return try JSONValue(parsing: response.body)["Id"]?.integer ?? 0
    }

    func registrations(of user: String) throws -> [JSONValue] {
        try JSONValue(parsing: call(.get, Path.register, as: user).body).array ?? []
    }

    /// The tags that the hub has for a registration, without its own; nil when it has none of that id.
    func hubTags(_ id: String) throws -> Set<String>? {
        guard let id = RegistrationID(id), let found = try hubClient.registration(id) else { return nil }
        return Set(found.tagTexts)
    }
}

extension RegistrationDescription {
    /// Without the tag of its own, which a hub elsewhere is given.
    var tagTexts: [String] { tags.filter { $0.registrationID == nil }.map(\.description) }
}

/// A hub that can be cut off, and at which something else may happen just before a registration reaches it.
final class CutOffHub: Responder {
    private let hub: any Responder
    private let isAway = Atomic(false)
    private let interruption = Lock<(@Sendable () -> Void)?>(nil)

    init(_ hub: any Responder) { self.hub = hub }

    func setAway(_ isAway: Bool) { self.isAway.store(isAway, ordering: .relaxed) }

    /// Done once, just before the next registration reaches the hub.
    func interrupt(_ body: @escaping @Sendable () -> Void) { interruption.withLock { $0 = body } }

    func respond(to request: Request) throws -> Response {
        if isAway.load(ordering: .relaxed) { throw NoAnswer() }
        if request.method == .put {
            let body = interruption.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
        }
        return try hub.respond(to: request)
    }
}

/// Holds the hub that a test cuts off: the site makes it while it is made itself.
final class HubHandle: Sendable {
    private let hub = Lock<CutOffHub?>(nil)

    func surround(_ inner: any Responder) -> any Responder {
        let made = CutOffHub(inner)
        hub.withLock { $0 = made }
        return made
    }

    func setAway(_ isAway: Bool) { hub.withLock(\.self)?.setAway(isAway) }
    func interrupt(_ body: @escaping @Sendable () -> Void) { hub.withLock(\.self)?.interrupt(body) }
}
