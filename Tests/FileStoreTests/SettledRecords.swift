// SPDX-License-Identifier: Apache-2.0
import FileStore
import Store
import Support
import Testing
import Text

/// Records of every kind that were acknowledged before a copy began and that no call changes afterwards, and ids of
/// others that were removed before it began.
struct SettledRecords {
    private static let owners = 6
    private static let forever = noon + 86_400 * 365

    private var notifications: [SecureNotification] = []
    private var users: [User] = []
    private var registrations: [HubRegistration] = []
    private var devices: [DeviceRecord] = []
    private var sessions: [Session] = []
    private var messages: [HubMessage] = []

    init(_ store: FileSiteStore) throws {
        for index in 0..<24 {
            let owner = "owner-\(index % Self.owners)"
            notifications.append(
                try store.createNotification(
                    owner: owner, payload: "settled \(index)", now: noon, expiresAt: Self.forever))
            users.append(try store.putUser(User(name: "settled-\(index)", passwordHash: "hash")))
            registrations.append(
                try store.putHubRegistration(
                    HubRegistration(
                        id: "settled-\(index)", channel: "channel-\(index % 40)",
                        tags: ["tag-\(index % 12)", "settled"], description: .string("d"), updatedAt: noon)))
            devices.append(
                try store.putDevice(DeviceRecord(id: "settled-\(index)", owner: owner, updatedAt: noon)))
            sessions.append(
                Session(
                    id: "settled-\(index)", owner: owner, binding: "b", createdAt: noon, expiresAt: Self.forever))
            try store.createSession(sessions[index], now: noon)
            messages.append(
                HubMessage(
                    id: "settled-\(index)", document: .null, createdAt: noon,
                    notBefore: index.isMultiple(of: 2) ? nil : noon + Int64(index % 3) * 3_600, expiresAt: Self.forever)
            )
            try store.enqueueHubMessage(messages[index])
            try makeAndRemove("removed-\(index)", owner, in: store)
        }
    }

    private func makeAndRemove(_ id: String, _ owner: String, in store: FileSiteStore) throws {
        _ = try store.putUser(User(name: id, passwordHash: "hash"))
        _ = try store.removeUser(id)
        _ = try store.putHubRegistration(
            HubRegistration(
                id: id, channel: "channel-1", tags: ["tag-1", "settled"], description: .null, updatedAt: noon))
        _ = try store.removeHubRegistration(id, version: nil)
        let device = try store.putDevice(DeviceRecord(id: id, owner: owner, updatedAt: noon))
        _ = try store.removeDevice(id, version: device.version)
        let session = Session(id: id, owner: owner, binding: "b", createdAt: noon, expiresAt: Self.forever)
        try store.createSession(session, now: noon)
        _ = try store.removeSession(id)
        try store.enqueueHubMessage(
            HubMessage(id: id, document: .null, createdAt: noon, expiresAt: Self.forever))
        try store.removeQueuedHubMessages([id])
    }

    /// What of it that store does not have, or has twice, or should not have any more.
    /// - Parameter endingSessions: looks also whether an owner's sessions all end, which can be done once.
    func faults(in store: FileSiteStore, endingSessions: Bool = true) throws -> [String] {
        try notificationFaults(store) + userFaults(store) + registrationFaults(store) + deviceFaults(store)
            + sessionFaults(store) + (endingSessions ? endingFaults(store) : []) + queueFaults(store)
    }

    private func notificationFaults(_ store: FileSiteStore) throws -> [String] {
        var faults: [String] = []
        for note in notifications {
            let found = try store.notification(note.id, owner: note.owner, now: noon)
            let byToken = try store.notification(token: note.token, owner: note.owner, now: noon)
            if found != note || byToken != note { faults.append("\(note.payload) is not found") }
            let list = try store.notifications(
                owner: note.owner, unreadOnly: true, after: nil, limit: .max, now: noon)
            if list.count(where: { $0 == NotificationSummary(note, size: $0.size) }) != 1 {
                faults.append("\(note.payload) is not listed once")
            }
        }
        return faults
    }

    private func userFaults(_ store: FileSiteStore) throws -> [String] {
        let all = try store.users()
        var faults = users.filter { user in all.count { $0 == user } != 1 }.map { "user \($0.name) is not listed once" }
        for user in users where try store.user(user.name) != user { faults.append("user \(user.name) is not found") }
        return faults + all.filter { $0.name.hasPrefix("removed") }.map { "user \($0.name) is back" }
    }

    private func registrationFaults(_ store: FileSiteStore) throws -> [String] {
        var lists: [String: [HubRegistration]] = [:]
        var page = try store.hubRegistrations(after: nil, limit: 100)
        var all = page.elements
        while let next = page.next {
            page = try store.hubRegistrations(after: next, limit: 100)
            all += page.elements
        }
        lists["all"] = all
        for tag in Set(registrations.flatMap(\.tags)) {
            lists["tag " + tag] = try store.hubRegistrations(tag: tag, after: nil, limit: .max).elements
            var each: [HubRegistration] = []
            try store.forEachHubRegistration(tag: tag) { each.append($0) }
            lists["each " + tag] = each
        }
        for channel in Set(registrations.map(\.channel)) {
            lists["channel " + channel] = try store.hubRegistrations(channel: channel)
        }
        var faults: [String] = []
        for registration in registrations {
            if try store.hubRegistration(registration.id) != registration {
                faults.append("registration \(registration.id) is not found")
            }
            let tags = registration.tags.flatMap { ["tag " + $0, "each " + $0] }
            let names = ["all", "channel " + registration.channel] + tags
            for name in names where lists[name]?.count(where: { $0 == registration }) != 1 {
                faults.append("registration \(registration.id) is not once in \(name)")
            }
        }
        for (name, list) in lists where Set(list.map(\.id)).count != list.count {
            faults.append("\(name) has one twice")
        }
        let back = lists.values.joined().filter { $0.id.hasPrefix("removed") }
        return faults + back.map { "registration \($0.id) is back" }
    }

    private func deviceFaults(_ store: FileSiteStore) throws -> [String] {
        var faults: [String] = []
        for device in devices {
            if try store.device(device.id) != device { faults.append("device \(device.id) is not found") }
            let count = try store.devices(owner: device.owner).count { $0 == device }
            if count != 1 { faults.append("device \(device.id) is \(count) times in its owner's list") }
        }
        for index in 0..<devices.count where try store.device("removed-\(index)") != nil {
            faults.append("device removed-\(index) is back")
        }
        for owner in Set(devices.map(\.owner)) {
            let back = try store.devices(owner: owner).filter { $0.id.hasPrefix("removed") }
            faults += back.map { "device \($0.id) is back" }
        }
        return faults
    }

    private func sessionFaults(_ store: FileSiteStore) throws -> [String] {
        var faults: [String] = []
        for session in sessions where try store.session(session.id, now: noon) != session {
            faults.append("session \(session.id) is not found")
        }
        for index in 0..<sessions.count where try store.session("removed-\(index)", now: noon) != nil {
            faults.append("session removed-\(index) is back")
        }
        return faults
    }

    /// Ends the sessions, because the store tells by that alone which it lists.
    private func endingFaults(_ store: FileSiteStore) throws -> [String] {
        var faults: [String] = []
        for owner in Set(sessions.map(\.owner)) { _ = try store.removeSessions(owner: owner) }
        for session in sessions where try store.session(session.id, now: noon) != nil {
            faults.append("session \(session.id) does not end with its owner's")
        }
        return faults
    }

    private func queueFaults(_ store: FileSiteStore) throws -> [String] {
        let waiting = try store.dueHubMessages(except: [], limit: .max, now: Self.forever).messages
        let faults = messages.filter { message in waiting.count { $0 == message } != 1 }
        return faults.map { "message \($0.id) does not wait once" }
            + waiting.filter { $0.id.hasPrefix("removed") }.map { "message \($0.id) is back" }
    }
}
