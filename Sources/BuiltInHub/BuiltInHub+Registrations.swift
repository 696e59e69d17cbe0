// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store
import Text

/// Registrations: one by one, and lists.
extension BuiltInHub {
    /// How often a write is tried when another request writes the same registration in between; then it is a conflict.
    static let maximumTries = 8

    package func newRegistrationID() -> RegistrationID { .random() }

    package func find(_ id: RegistrationID) throws(ServableHubError) -> RegistrationDescription {
        let found = try storing { () throws(StoreError) -> RegistrationDescription? in
            if let one = try stored(id), !one.isInstallation { return try one.answer(isRead: true) }
            return try reader.find(namespace.stored(id.description), in: store)?.answer
        }
        guard let found else { throw .noSuchRegistration }
        return found
    }

    private func stored(_ id: RegistrationID) throws(StoreError) -> HubRegistration? {
        try store.hubRegistration(namespace.stored(id.description))
    }

    package func create(_ description: RegistrationDescription) throws(ServableHubError) -> RegistrationDescription {
        try Self.check(description)
        return try storing { () throws(StoreError) in try write(description, under: .random(), version: 0) }
    }

    package func put(
        _ description: RegistrationDescription, under id: RegistrationID, replacing condition: VersionCondition?
    ) throws(ServableHubError) -> RegistrationDescription {
        try Self.check(description)
        for _ in 0..<Self.maximumTries {
            do throws(ServableHubError) {
                return try replace(description, id, condition)
            } catch {
                guard error == .conflict else { throw error }
            }
        }
        throw .conflict
    }

    /// One try. A version that the client named is compared again each time, so a lost race is a mismatch.
    private func replace(
        _ description: RegistrationDescription, _ id: RegistrationID, _ condition: VersionCondition?
    ) throws(ServableHubError) -> RegistrationDescription {
        let current = try storing { () throws(StoreError) in try stored(id) }
        if let current, current.isInstallation { throw .ofInstallation }
        if current == nil, try isOfInstallation(id) { throw .ofInstallation }
        if let condition {
            guard let current else { throw .noSuchRegistration }
            guard condition.matches(current.version) else { throw .versionMismatch }
        }
        return try storing { () throws(StoreError) in
            try write(description, under: id, version: current?.version ?? 0)
        }
    }

    /// - Parameter version: the version that is replaced; 0 for none.
    private func write(
        _ description: RegistrationDescription, under id: RegistrationID, version: Int
    ) throws(StoreError) -> RegistrationDescription {
        let registration = HubRegistration(description, id: id, in: namespace, version: version, now: now())
        return try store.putHubRegistration(registration).answer(isRead: false)
    }

    /// Whether that is what the store has under the id, written so lately that it need not be written once more.
    func hasRecent(_ description: RegistrationDescription, under id: RegistrationID) throws(ServableHubError) -> Bool {
        let current = try storing { () throws(StoreError) in try stored(id) }
        guard let current else { return false }
        guard RegistrationDescription.isRecent(current.updatedAt, now: Timestamp(seconds: now())) else { return false }
        let wanted = HubRegistration(
            description, id: id, in: namespace, version: current.version, now: current.updatedAt.seconds)
        return wanted.hasSameBytes(as: current)
    }

    package func remove(_ id: RegistrationID, at condition: VersionCondition) throws(ServableHubError) {
        if try isOfInstallation(id) { return try removeOfInstallation(id, at: condition) }
        let version: Int? = if case .version(let version) = condition { version } else { nil }
        let isRemoved: Bool
        do throws(StoreError) {
            isRemoved = try store.removeHubRegistration(namespace.stored(id.description), version: version)
        } catch {
            throw error == .conflict ? .versionMismatch : ServableHubError(error)
        }
        guard isRemoved else { throw .noSuchRegistration }
    }

    package func list(
        _ selection: RegistrationSelection, after: String?, limit: Int
    ) throws(ServableHubError) -> RegistrationPage {
        if case .device(let query) = selection { return try registrations(query, after: after, limit: limit) }
        let page = try storing { () throws(StoreError) in
            guard case .tag(let tag) = selection else {
                return try store.hubRegistrations(in: namespace, after: after, limit: limit)
            }
            return try registrations(tag, after: after, limit: limit)
        }
        let readable = page.elements.flatMap(reader.read).filter { known in
            if case .tag(let tag) = selection { known.description.bears(tag) } else { true }
        }
        return RegistrationPage(registrations: readable.map(\.answer), next: page.next)
    }

    /// The continuation is an id, as clients know it.
    private func registrations(_ tag: Tag, after: String?, limit: Int) throws(StoreError) -> Page<HubRegistration> {
        let page = try store.hubRegistrations(
            tag: namespace.stored(tag.folded), after: after.map(namespace.stored), limit: limit)
        return Page(elements: page.elements, next: page.next.map(namespace.plain))
    }

    /// A device has few registrations, so they are all read and the page is cut here; its continuation is an id.
    private func registrations(
        _ query: ChannelQuery, after: String?, limit: Int
    ) throws(ServableHubError) -> RegistrationPage {
        var found: [String: KnownRegistration] = [:]
        for channel in query.channels {
            let records = try storing { () throws(StoreError) in
                try store.hubRegistrations(of: channel, in: namespace)
            }
            for known in records.flatMap(reader.read)
            where known.registration.plainChannel == channel && query.matches(known.description.platform) {
                found[known.registration.plainID] = known
            }
        }
        let rest = found.filter { $0.key > after ?? "" }.sorted { $0.key < $1.key }
        let page = rest.prefix(limit)
        return RegistrationPage(
            registrations: page.map(\.value.answer), next: rest.count > page.count ? page.last?.key : nil)
    }

    /// The same for every way into the hub.
    /// - Throws: `invalid`.
    private static func check(_ description: RegistrationDescription) throws(ServableHubError) {
        guard description.hasClientTagsOnly else { throw .badTag }
        try description.checkForHub()
    }
}
