// SPDX-License-Identifier: Apache-2.0
import FileStore
import JSON
import Store
import Text

/// A store beside the ledger of what was written to it: every record is in a state that it may be in, every index finds
/// it once, and nothing is there that no writer wrote.
struct Comparison {
    let store: any SiteStore
    let ledger: Ledger
    private(set) var verdict = Verdict()
    private let now = Writer.fixedTime
    /// The payload of what `writeOn` adds; an earlier comparison may have done so.
    private static let addition = "written-on"

    init(store: any SiteStore, ledger: Ledger) {
        (self.store, self.ledger) = (store, ledger)
        verdict.promises = ledger.promises
        verdict.refusals = ledger.refusals
    }

    mutating func run() throws(StoreError) {
        let exported = try exported()
        let found: [Kind: Found] = [
            .notification: try notifications(), .registration: try registrations(), .device: try devices(),
            .session: try sessions(), .user: try users(), .message: try messages(),
            .request: exported[.request] ?? [:],
        ]
        for kind in Kind.allCases {
            compare(kind, found[kind] ?? [:])
            if exported[kind] ?? [:] != found[kind] { verdict.doubt("an export of each \(kind) has others") }
        }
    }

    mutating func judge(_ report: StoreReport) {
        (verdict.brokenLines, verdict.cutLines) = (report.faultyLines, report.cutLines)
        guard !report.isUnopenedCopy else { return }
        for (index, count) in report.missingIndexLines { verdict.doubt("\(count) lines of \(index) are missing") }
    }

    /// A store that survived must also be written to, with whatever tails its files have.
    func writeOn() throws(StoreError) {
        for owner in owners {
            let made = try store.createNotification(
                owner: owner, sender: "", payload: Self.addition, now: now, expiresAt: now + 60)
            guard try store.notification(made.id, owner: owner, now: now) == made else {
                throw .damaged(detail: "what was written now is not found")
            }
        }
    }

    // MARK: What is there

    /// States of records, by key.
    private typealias Found = [String: String]

    private mutating func notifications() throws(StoreError) -> Found {
        var found = Found()
        for owner in owners {
            for summary in try store.notifications(owner: owner, unreadOnly: false, after: nil, limit: .max, now: now) {
                guard let note = try store.notification(summary.id, owner: owner, now: now) else {
                    verdict.doubt("notification \(summary.id) is listed and not found by its id")
                    continue
                }
                guard let key = Content.key(of: note.payload) else {
                    verdict.tear("notification \(note.id) of \(owner)")
                    continue
                }
                if key == Self.addition { continue }
                add(key, Content.state(of: note), .notification, to: &found)
                let isNamed = try store.notification(token: note.token, owner: owner, now: now) == note
                if !isNamed { verdict.doubt("notification \(key) is not found by its token") }
                guard let id = ledger.notificationIDs[key] else { continue }
                let byID = try store.notification(id, owner: owner, now: now)
                if byID != note { verdict.doubt("notification \(key) is not found by its id") }
            }
        }
        return found
    }

    private mutating func registrations() throws(StoreError) -> Found {
        var found = Found()
        var all: [HubRegistration] = []
        var next: String?
        repeat {
            let page = try store.hubRegistrations(after: next, limit: 500)
            (all, next) = (all + page.elements, page.next)
        } while next != nil
        var listed: [String: Int] = [:]
        func count(_ list: [HubRegistration], _ name: String) {
            for registration in list { listed["\(registration.id) \(name)", default: 0] += 1 }
        }
        for tag in Set(all.flatMap(\.tags)) {
            count(try store.hubRegistrations(tag: tag, after: nil, limit: .max).elements, "tag " + tag)
        }
        for channel in Set(all.map(\.channel)) { count(try store.hubRegistrations(channel: channel), channel) }
        for one in all {
            add(one.id, Content.state(of: one), .registration, to: &found)
            let names = one.tags.map { "tag " + $0 } + [one.channel]
            for name in names where listed["\(one.id) \(name)"] != 1 {
                verdict.doubt("registration \(one.id) is not once in \(name)")
            }
        }
        return found
    }

    private mutating func devices() throws(StoreError) -> Found {
        var (found, listed) = (Found(), Found())
        for owner in owners {
            for device in try store.devices(owner: owner) {
                add(device.id, Content.state(of: device), .device, to: &listed)
            }
        }
        for key in keys(.device) {
            guard let device = try store.device(key) else { continue }
            found[key] = Content.state(of: device)
            if listed[key] != found[key] { verdict.doubt("device \(key) is not in its owner's list") }
        }
        return found.merging(listed) { one, _ in one }
    }

    private func sessions() throws(StoreError) -> Found {
        var found = Found()
        for key in keys(.session) { found[key] = try store.session(key, now: now)?.owner }
        return found
    }

    private mutating func users() throws(StoreError) -> Found {
        var found = Found()
        for user in try store.users() {
            add(user.name, user.passwordHash, .user, to: &found)
            let byName = try store.user(user.name)
            if byName != user { verdict.doubt("user \(user.name) is not found by name") }
        }
        return found
    }

    private mutating func messages() throws(StoreError) -> Found {
        var found = Found()
        // At the end of all times, when everything is due.
        let due = try store.dueHubMessages(except: [], limit: .max, now: Timestamp(seconds: 1 << 40))
        for message in due.messages {
            let notBefore = Content.notBefore(ofMessage: message.id)
            let byID = try store.queuedHubMessage(message.id, notBefore: notBefore)
            if byID != message { verdict.doubt("message \(message.id) is not found by its id") }
            add(message.id, Content.state(of: message), .message, to: &found)
        }
        return found
    }

    /// Everybody who was to have a notification or a device.
    private var owners: Set<String> {
        let states = [Kind.notification, .device].flatMap { ledger.histories[$0].map { Array($0.values) } ?? [] }
            .flatMap(\.states)
        return Set(states.compactMap { $0.split(whereSeparator: { $0 == "#" || $0 == ":" }).first.map(String.init) })
            .subtracting([Journal.absent])
    }

    /// Every record, as another store would be given it.
    private mutating func exported() throws(StoreError) -> [Kind: Found] {
        var records: [StoredRecord] = []
        try store.forEachRecord(now: now) { records.append($0) }
        var found: [Kind: Found] = [:]
        for record in records {
            guard let (kind, key, state) = Content.line(of: record), key != Self.addition else { continue }
            add(key, state, kind, to: &found[kind, default: [:]])
        }
        return found
    }

    private func keys(_ kind: Kind) -> [String] { ledger.histories[kind].map { Array($0.keys) } ?? [] }

    // MARK: Comparing

    private mutating func add(_ key: String, _ state: String, _ kind: Kind, to found: inout Found) {
        if found.updateValue(state, forKey: key) != nil { verdict.doubt("\(kind) \(key) is there twice") }
    }

    private mutating func compare(_ kind: Kind, _ found: Found) {
        let histories = ledger.histories[kind] ?? [:]
        for (key, history) in histories {
            if history.isPromised { verdict.expected += 1 }
            let state = found[key] ?? Journal.absent
            guard !history.possible.contains(state) else { continue }
            if state.hasSuffix("torn") {
                verdict.tear("\(kind) \(key)")
            } else if history.states.contains(state) {
                verdict.lose("\(kind) \(key) is \(state), not \(history.possible.joined(separator: " or "))")
            } else {
                verdict.doubt("\(kind) \(key) is \(state), which nobody wrote")
            }
        }
        for key in found.keys {
            verdict.visible += 1
            guard let history = histories[key] else {
                verdict.doubt("\(kind) \(key) was never written")
                continue
            }
            if !history.isPromised { verdict.unpromised += 1 }
        }
    }
}
