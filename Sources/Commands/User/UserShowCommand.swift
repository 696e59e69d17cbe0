// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import JSON
import NotificationHub
import Server
import Store
import Text

/// `app-backend user show`
struct UserShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what a user may do, and what is theirs.",
        discussion: """
            Devices with the end of their handles, since when and why those are gone that are, and the last message that each \
            did not get; sessions, app tokens, how many kept messages are unread and how many are read, and when the user was \
            last seen: the last request that was authenticated, by whichever method, to an hour. Of a user who was \
            removed it shows what is left to be removed.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print one JSON object.") var json = false
    @Argument(help: "The user.") var name: String

    func run() throws {
        let (configuration, site, store) = try UserCommand.site(options, migrates: false)
        defer { site.close() }
        let stored = try UserCommand.administration(configuration, store).stored(name)
        let user = try store.userRecord(stored) ?? UserCommand.existing(name, in: store, or: configuration)
        guard user.removedAt == nil || user.keepsData || !user.upkeep.isEmpty else {
            throw CommandError("There is no user \(name).")
        }
        let report = UserReport(
            user: user, devices: try store.devices(owner: user.owner),
            failures: try site.lastFailures(of: user, in: store),
            holdings: try store.holdings(of: user.owner, now: Site.now()),
            tokens: try UserTokenCommand.tokens(of: user, in: store).count, pending: try pending(of: user, in: store))
        if json { print(report.json) } else { report.lines.forEach { print($0) } }
    }

    /// Registrations of former users of the name that are still there.
    private func pending(of user: User, in store: any SiteStore) throws(StoreError) -> Int {
        var count = 0
        for cleaning in user.upkeep.cleanings {
            for generation in user.generations(of: cleaning) {
                count += try store.devices(owner: User.owner(of: user.name, generation: generation)).count
            }
        }
        return count
    }
}

/// What is printed of a user.
private struct UserReport {
    let user: User
    let devices: [DeviceRecord]
    /// The last one of each device, by its registration id.
    let failures: [String: MessageHistory.Failure]
    let holdings: Holdings
    let tokens: Int
    /// Registrations that are still to be removed.
    let pending: Int

    private var tries: Int { user.upkeep.cleanings.map(\.schedule.attempts).max() ?? 0 }

    // MARK: Lines

    var lines: [String] {
        var lines = [user.name]
        if let removedAt = user.removedAt { lines.append("removed: \(removedAt.text)") }
        if let disabledAt = user.disabledAt { lines.append("disabled: \(disabledAt.text)") }
        if let expiresAt = user.expiresAt { lines.append("may log in until: \(expiresAt.text)") }
        lines.append("last seen: \(user.lastSeenAt?.text ?? "not noted")")
        lines.append("may claim: \(Self.text(user.tags))")
        lines.append("may send to: \(Self.text(user.sendTo))")
        if !user.roles.isEmpty { lines.append("roles: \(user.roles.joined(separator: " "))") }
        if user.passwordHash.isEmpty, user.removedAt == nil { lines.append("password: none") }
        if user.isSecureOnly { lines.append("secure only: no plain text goes through push services") }
        lines.append("sessions: \(Self.text(holdings.sessions))")
        lines.append("app tokens: \(tokens)")
        lines.append("messages waiting: \(Self.text(holdings.waiting))")
        lines.append("messages read: \(Self.text(holdings.read))")
        let gone = devices.count(where: \.isGone)
        lines.append("devices: \(devices.count - gone)" + (gone > 0 ? ", and \(gone) gone" : ""))
        lines += TextTable.lines(devices.map(row), textColumns: [0, 1, 2, 3, 4]).map { "  " + $0 }
        if !user.upkeep.cleanings.isEmpty { lines.append("to be removed: \(work)") }
        if let review = user.upkeep.review {
            lines.append("tags are being compared with what they may claim until \(review.until.text)")
        }
        return lines
    }

    private var work: String {
        let next = user.upkeep.cleanings.map(\.schedule.dueAt).min()?.text ?? ""
        return UserCommand.counted(pending, "registration", "registrations") + " of former users of the name; "
            + UserCommand.counted(tries, "try", "tries") + " failed; the next one at \(next)"
    }

    private static func text(_ patterns: [String]?) -> String {
        patterns?.joined(separator: " ") ?? "what the configuration says"
    }

    private static func text(_ span: Holdings.Span) -> String {
        guard let oldest = span.oldest, let newest = span.newest else { return "\(span.count)" }
        return "\(span.count), the oldest of \(oldest.text), the newest of \(newest.text)"
    }

    private func row(_ device: DeviceRecord) -> [String] {
        [
            device.platform.isEmpty ? "unused" : device.platform, DeviceHandle.suffix(of: device.handle),
            device.updatedAt.text, device.id, device.words(failures[device.id]),
        ]
    }

    // MARK: JSON

    var json: String {
        JSONWriter.object { json in
            json.member("name", user.name)
            write(user.removedAt, "removedAt", &json)
            write(user.disabledAt, "disabledAt", &json)
            write(user.expiresAt, "expiresAt", &json)
            write(user.lastSeenAt, "lastSeenAt", &json)
            write(user.tags, "tags", &json)
            write(user.sendTo, "sendTo", &json)
            write(user.roles, "roles", &json)
            json.member("hasPassword", !user.passwordHash.isEmpty)
            json.member("secureOnly", user.isSecureOnly)
            json.member("tokens", tokens)
            for (name, span) in [
                ("sessions", holdings.sessions), ("waiting", holdings.waiting), ("read", holdings.read),
            ] {
                json.member(name) { json in
                    json.member("count", span.count)
                    write(span.oldest, "oldest", &json)
                    write(span.newest, "newest", &json)
                }
            }
            json.member("devices", devices) { device, json in
                device.writeMembers(failures[device.id], to: &json)
                json.member("handle", DeviceHandle.suffix(of: device.handle))
            }
            json.member("pending") { json in
                json.member("registrations", pending)
                json.member("failedTries", tries)
                write(user.upkeep.dueAt, "nextAt", &json)
            }
        }.text
    }

    private func write(_ time: Timestamp?, _ name: String, _ json: inout JSONWriter) {
        if let time { json.member(name, time.text) }
    }

    private func write(_ texts: [String]?, _ name: String, _ json: inout JSONWriter) {
        if let texts { json.member(name, texts) }
    }
}
