// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store
internal import System
import Text

/// One device that a send reaches.
struct Target: Sendable {
    /// Nil in a direct send, which passes the registrations by.
    let registrationID: String?
    /// Of the registration as it was read; nil in a direct send.
    let version: Int?
    /// When the registration was written last; nil in a direct send.
    let updatedAt: Timestamp?
    let description: RegistrationDescription

    init(_ registration: HubRegistration, _ description: RegistrationDescription) {
        (registrationID, version, updatedAt) = (registration.id, registration.version, registration.updatedAt)
        self.description = description
    }

    /// Of a direct send.
    init(description: RegistrationDescription) {
        (registrationID, version, updatedAt) = (nil, nil, nil)
        self.description = description
    }
}

/// Finds whom a send reaches.
///
/// A native send reaches the native registrations of its platform, one per handle; a template send reaches every
/// template registration, of all platforms. Each registration has its tag `Tag(registration:)`, which is not in the index.
/// `gcm` and `fcmv1` are one family: the same Android device may be registered under either name, and Google ended the
/// protocol of the first, so a send in either format reaches both.
struct TargetSelection: Sendable {
    let store: any HubStore
    let reader: RegistrationReader

    /// Whose devices a send reaches.
    ///
    /// Of both: a reserved tag, which the backend alone gives, is one of the backend's registrations alone. Others may have
    /// been registered under it before the hub was shared.
    var namespaces: [HubNamespace] = [.backend]

    /// Registrations that are read at once where all are read.
    static let pageSize = 500

    /// What several messages to one audience have read; nil: each reads for itself.
    private var audiences: SharedAudiences?

    init(store: any HubStore, reader: RegistrationReader) {
        (self.store, self.reader) = (store, reader)
    }

    /// The same for those namespaces.
    func reaching(_ namespaces: [HubNamespace]) -> TargetSelection {
        var selection = self
        selection.namespaces = namespaces
        return selection
    }

    /// The same for messages that are sent one right after the other, such as those of one message to several platforms: a tag's
    /// registrations are read once, where they are few.
    func sharing() -> TargetSelection {
        var selection = self
        selection.audiences = SharedAudiences()
        return selection
    }

    /// Calls `visit` once for each target, in no order of meaning.
    ///
    /// The cost depends on what the expression's positive tags have, not on how many registrations there are. Only
    /// where nothing positive is required (a broadcast, `!a`) every registration is read, page by page.
    func forEach(
        _ format: HubNotification.Format, _ expression: TagExpression?, _ visit: (Target) -> Void
    ) throws(StoreError) {
        var reached = Reached(format: format)
        try forEachMatch(format, expression) { registration, description in
            if let target = reached.target(registration, description) { visit(target) }
        }
    }

    /// Calls `body` with what the expression and the format match; a registration with two of its tags comes twice.
    private func forEachMatch(
        _ format: HubNotification.Format, _ expression: TagExpression?,
        _ body: (HubRegistration, RegistrationDescription) -> Void
    ) throws(StoreError) {
        func offer(_ registration: HubRegistration, _ description: RegistrationDescription) {
            if reaches(registration, description, format, expression) { body(registration, description) }
        }
        func read(_ registration: HubRegistration) {
            guard namespaces.contains(registration.namespace) else { return }
            if let description = reader.read(registration) { offer(registration, description) }
        }
        guard let tags = expression.flatMap(Self.cover) else { return try forEachRegistration(read) }
        for place in places(of: tags) {
            try registration(named: place).map(read)
            if let few = try few(place) {
                for known in few { offer(known.registration, known.description) }
            } else {
                try store.forEachHubRegistration(tag: place.stored, read)
            }
        }
    }

    /// A tag in one namespace.
    private struct Place {
        let tag: Tag
        let namespace: HubNamespace

        /// As the store's index has it.
        var stored: String { namespace.stored(tag.folded) }
    }

    /// Where registrations with those tags are.
    private func places(of tags: [Tag]) -> [Place] {
        namespaces.flatMap { namespace in
            tags.filter { counts($0, in: namespace) }.map { Place(tag: $0, namespace: namespace) }
        }
    }

    private func counts(_ tag: Tag, in namespace: HubNamespace) -> Bool {
        namespace == .backend || namespaces.count == 1 || !tag.isReserved
    }

    /// All that have the tag; nil where they are many, or nothing is shared.
    private func few(_ place: Place) throws(StoreError) -> [SharedAudiences.Known]? {
        guard let audiences else { return nil }
        return try audiences.few(place.stored) { () throws(StoreError) in
            let page = try store.hubRegistrations(tag: place.stored, after: nil, limit: SharedAudiences.few)
            guard page.next == nil else { return nil }
            return page.elements.compactMap { registration in
                reader.read(registration).map { SharedAudiences.Known(registration: registration, description: $0) }
            }
        }
    }

    /// The ids of the registrations that a send reaches, by lane and sorted, so that a delivery that was cut short knows
    /// where to go on: in each lane behind the last id that it had come to. Of several registrations of one device it is
    /// always the same one.
    func ids(
        _ format: HubNotification.Format, _ expression: TagExpression?, lane: (RegistrationDescription) -> LaneName
    ) throws(StoreError) -> [LaneName: [String]] {
        var found: [String: (id: String, lane: LaneName)] = [:]
        try forEachMatch(format, expression) { registration, description in
            let device = if case .native = format { registration.plainChannel } else { registration.id }
            if let known = found[device], known.id <= registration.id { return }
            found[device] = (registration.id, lane(description))
        }
        return Dictionary(grouping: found.values, by: \.lane).mapValues { $0.map(\.id).sorted() }
    }

    /// The registration of that id as a target, if the send still reaches it.
    func target(
        _ id: String, _ format: HubNotification.Format, _ expression: TagExpression?
    ) throws(StoreError) -> Target? {
        guard let registration = try store.hubRegistration(id), let description = reader.read(registration),
            reaches(registration, description, format, expression)
        else { return nil }
        return Target(registration, description)
    }

    /// Whether a send reaches any device. Mostly one of the first registrations is one; where none of them is, all are
    /// read once.
    func hasTarget(_ format: HubNotification.Format, _ expression: TagExpression?) throws(StoreError) -> Bool {
        func isReached(_ registration: HubRegistration) -> Bool {
            guard namespaces.contains(registration.namespace) else { return false }
            return reader.read(registration).map { reaches(registration, $0, format, expression) } ?? false
        }
        guard let tags = expression.flatMap(Self.cover) else {
            return try hasRegistration(where: isReached)
        }
        for place in places(of: tags) {
            if try registration(named: place).map(isReached) == true { return true }
            if let few = try few(place) {
                if few.contains(where: { reaches($0.registration, $0.description, format, expression) }) { return true }
            } else if try store.hasHubRegistration(tag: place.stored, where: isReached) {
                return true
            }
        }
        return false
    }

    /// The registration whose own tag that is.
    private func registration(named place: Place) throws(StoreError) -> HubRegistration? {
        guard let id = place.tag.registrationID else { return nil }
        return try store.hubRegistration(place.namespace.stored(id.description))
    }

    /// Whether a notification in this format to that expression (nil: to all) is for such a registration.
    private func reaches(
        _ registration: HubRegistration, _ description: RegistrationDescription, _ format: HubNotification.Format,
        _ expression: TagExpression?
    ) -> Bool {
        let namespace = registration.namespace
        guard namespaces.contains(namespace), format.suits(description) else { return false }
        guard let expression else { return true }
        let tags = Set(description.tags)
        return expression.matches { tag in
            counts(tag, in: namespace) && (tags.contains(tag) || tag.names(registration: registration.plainID))
        }
    }

    private func hasRegistration(where isReached: (HubRegistration) -> Bool) throws(StoreError) -> Bool {
        var after: String?
        var limit = 1
        repeat {
            let page = try store.hubRegistrations(after: after, limit: limit)
            if page.elements.contains(where: isReached) { return true }
            (after, limit) = (page.next, Self.pageSize)
        } while after != nil
        return false
    }

    private func forEachRegistration(_ body: (HubRegistration) -> Void) throws(StoreError) {
        var after: String?
        repeat {
            let page = try store.hubRegistrations(after: after, limit: Self.pageSize)
            page.elements.forEach(body)
            after = page.next
        } while after != nil
    }

    /// Tags of which every registration that the expression matches has at least one; nil when there are none such.
    ///
    /// Of the two sides of `&&` the one with fewer tags is taken: how many registrations a tag has is not known before
    /// they are read.
    static func cover(_ expression: TagExpression) -> [Tag]? {
        cover(expression, isNegated: false).map { tags in
            tags.reduce(into: [Tag]()) { if !$0.contains($1) { $0.append($1) } }
        }
    }

    private static func cover(_ expression: TagExpression, isNegated: Bool) -> [Tag]? {
        switch (expression, isNegated) {
        case (.tag(let tag), false): return [tag]
        case (.tag, true): return nil
        case (.not(let operand), _): return cover(operand, isNegated: !isNegated)
        case (.or(let one, let other), false), (.and(let one, let other), true):
            guard let first = cover(one, isNegated: isNegated), let second = cover(other, isNegated: isNegated)
            else { return nil }
            return first + second
        case (.and(let one, let other), false), (.or(let one, let other), true):
            let sides = [cover(one, isNegated: isNegated), cover(other, isNegated: isNegated)].compactMap(\.self)
            return sides.min { $0.count < $1.count }
        }
    }
}

/// Registrations of tags that several messages ask for.
private final class SharedAudiences: Sendable {
    struct Known: Sendable {
        let registration: HubRegistration
        let description: RegistrationDescription
    }

    /// As many are kept of a tag; a user rarely has more devices.
    static let few = 32

    private let byTag = Lock<[String: [Known]?]>([:])

    /// - Parameter read: all that have the tag; nil where they are more than `few`.
    func few(_ tag: String, _ read: () throws(StoreError) -> [Known]?) throws(StoreError) -> [Known]? {
        if let known = byTag.withLock({ $0[tag] }) { return known }
        let found = try read()
        byTag.withLock { $0[tag] = .some(found) }
        return found
    }
}

/// Who was reached already: a registration may come up under several tags, and a handle under several registrations.
private struct Reached {
    let format: HubNotification.Format
    private var ids: Set<String> = []
    private var channels: Set<String> = []

    init(format: HubNotification.Format) {
        self.format = format
    }

    mutating func target(_ registration: HubRegistration, _ description: RegistrationDescription) -> Target? {
        guard ids.insert(registration.id).inserted else { return nil }
        if case .native = format {
            guard channels.insert(registration.plainChannel).inserted else { return nil }
        }
        return Target(registration, description)
    }
}

extension HubNotification.Format {
    /// Whether a notification in this format is for such a device.
    fileprivate func suits(_ description: RegistrationDescription) -> Bool {
        switch self {
        case .template: description.template != nil
        case .native(let platform): description.template == nil && description.platform.family == platform.family
        }
    }
}
