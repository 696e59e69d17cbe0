// SPDX-License-Identifier: Apache-2.0
import JSON
import Store

/// One writer that creates, changes and removes records of every kind, so that files are compacted and split all the
/// time. All writers share owners, tags and channels, so that they meet in the same files; ids are each one's own.
struct Churn {
    /// More steps than any test waits for.
    static let maximumSteps = 50_000
    private static let audience = 12
    private static let now = Timestamp(seconds: 1_800_000_000)

    let store: FileStore
    let name: String

    func step(_ index: Int) throws(StoreError) {
        let owner = "owner-\(index % Self.audience)"
        _ = try store.createNotification(
            owner: owner, payload: String(repeating: owner, count: 1 + index % 9), now: Self.now,
            expiresAt: Self.now + 60)
        try registrations(index)
        try devices(index, owner)
        try sessions(index, owner)
        try users(index)
        try queue(index)
    }

    private func registrations(_ index: Int) throws(StoreError) {
        let new = HubRegistration(
            id: "\(name)-r\(index)", channel: "channel-\(index % 40)",
            tags: ["tag-\(index % Self.audience)", "tag-\((index + 5) % Self.audience)"], description: .bool(true),
            updatedAt: Self.now)
        _ = try store.putHubRegistration(new)
        if var old = try store.hubRegistration("\(name)-r\(index - 3)") {
            old.tags = ["tag-\((index + 1) % Self.audience)"]
            _ = try store.putHubRegistration(old)
        }
        if index % 3 == 0 { _ = try store.removeHubRegistration("\(name)-r\(index - 9)", version: nil) }
    }

    private func devices(_ index: Int, _ owner: String) throws(StoreError) {
        _ = try store.putDevice(DeviceRecord(id: "\(name)-d\(index)", owner: owner, updatedAt: Self.now))
        guard var old = try store.device("\(name)-d\(index - 4)") else { return }
        old.owner = "owner-\((index + 7) % Self.audience)"
        old = try store.putDevice(old)
        if index % 4 == 0 { _ = try store.removeDevice(old.id, version: old.version) }
    }

    private func sessions(_ index: Int, _ owner: String) throws(StoreError) {
        let session = Session(
            id: "\(name)-s\(index)", owner: owner, binding: "binding", createdAt: Self.now,
            expiresAt: Self.now + 86_400)
        try store.createSession(session, now: Self.now)
        _ = try store.removeSession("\(name)-s\(index - 7)")
    }

    private func users(_ index: Int) throws(StoreError) {
        let user = "\(name)-u\(index % 15)"
        let version = try store.user(user)?.version ?? 0
        _ = try store.putUser(User(name: user, passwordHash: "hash-\(index)", version: version))
    }

    private func queue(_ index: Int) throws(StoreError) {
        let message = HubMessage(
            id: "\(name)-m\(index)", document: .string("message"), createdAt: Self.now, expiresAt: Self.now + 60)
        try store.enqueueHubMessage(message)
        try store.removeQueuedHubMessages(["\(name)-m\(index - 5)"])
    }
}
