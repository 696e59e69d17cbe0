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
    /// Names it among the targets of its message.
    let name: String

    init(_ known: KnownRegistration) {
        let registration = known.registration
        (registrationID, version, updatedAt) = (registration.id, registration.version, registration.updatedAt)
        (description, name) = (known.description, registration.id)
    }

    /// Of a direct send.
    /// - Parameter place: among its devices.
    init(description: RegistrationDescription, place: Int) {
        (registrationID, version, updatedAt) = (nil, nil, nil)
        (self.description, name) = (description, Self.name(ofPlace: place))
    }

    private static let placeSign = "#"

    /// In the order of the places: empty, `#0001`, `#0002` and so on. A message of an earlier version has only the first.
    static func name(ofPlace place: Int) -> String {
        guard place > 0 else { return "" }
        let digits = String(place)
        return placeSign + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    /// Whether that names a device of a direct send, which has no registration.
    static func isPlace(_ name: String) -> Bool { name.isEmpty || name.hasPrefix(placeSign) }
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
        try forEachMatch(format, expression) { known in
            if let target = reached.target(known) { visit(target) }
        }
    }

    /// Calls `body` with what the expression and the format match; a registration with two of its tags comes twice.
    private func forEachMatch(
        _ format: HubNotification.Format, _ expression: TagExpression?,
        _ body: (KnownRegistration) -> Void
    ) throws(StoreError) {
        func offer(_ known: KnownRegistration) {
            if reaches(known, format, expression) { body(known) }
        }
        func read(_ record: HubRegistration) {
            guard namespaces.contains(record.namespace) else { return }
            reader.read(record).forEach(offer)
        }
        guard let tags = try cover(expression) else { return try forEachRegistration(read) }
        for place in places(of: tags) {
            try registration(named: place).map(offer)
            if let few = try few(place) {
                few.forEach(offer)
            } else {
                try store.forEachHubRegistration(tag: place.stored, read)
            }
        }
    }

    /// A tag in one namespace.
    struct Place {
        let tag: Tag
        let namespace: HubNamespace

        /// As the store's index has it.
        var stored: String { namespace.stored(tag.folded) }
    }

    /// Where registrations with those tags are.
    func places(of tags: [Tag]) -> [Place] {
        namespaces.flatMap { namespace in
            tags.filter { counts($0, in: namespace) }.map { Place(tag: $0, namespace: namespace) }
        }
    }

    private func counts(_ tag: Tag, in namespace: HubNamespace) -> Bool {
        namespace == .backend || namespaces.count == 1 || !tag.isReserved
    }

    /// All that have the tag; nil where they are many, or nothing is shared.
    private func few(_ place: Place) throws(StoreError) -> [KnownRegistration]? {
        guard let audiences else { return nil }
        return try audiences.few(place.stored) { () throws(StoreError) in
            let page = try store.hubRegistrations(tag: place.stored, after: nil, limit: SharedAudiences.few)
            guard page.next == nil else { return nil }
            return page.elements.flatMap(reader.read)
        }
    }

    /// The ids of the registrations that a send reaches, by lane and sorted, so that a delivery that was cut short knows
    /// where to go on: in each lane behind the last id that it had come to. Of several registrations of one device it is
    /// always the same one.
    func ids(
        _ format: HubNotification.Format, _ expression: TagExpression?, lane: (RegistrationDescription) -> LaneName
    ) throws(StoreError) -> [LaneName: [String]] {
        var found: [String: (id: String, lane: LaneName)] = [:]
        try forEachMatch(format, expression) { known in
            let registration = known.registration
            let device = if case .native = format { registration.plainChannel } else { registration.id }
            if let known = found[device], known.id <= registration.id { return }
            found[device] = (registration.id, lane(known.description))
        }
        return Dictionary(grouping: found.values, by: \.lane).mapValues { $0.map(\.id).sorted() }
    }

    /// The registration of that id as a target, if the send still reaches it.
    func target(
        _ id: String, _ format: HubNotification.Format, _ expression: TagExpression?
    ) throws(StoreError) -> Target? {
        guard let known = try reader.find(id, in: store), reaches(known, format, expression) else { return nil }
        return Target(known)
    }

    /// Whether a send reaches any device. Mostly one of the first registrations is one; where none of them is, all are
    /// read once.
    func hasTarget(_ format: HubNotification.Format, _ expression: TagExpression?) throws(StoreError) -> Bool {
        func isReached(_ known: KnownRegistration) -> Bool { reaches(known, format, expression) }
        func reachesOne(_ record: HubRegistration) -> Bool {
            namespaces.contains(record.namespace) && reader.read(record).contains(where: isReached)
        }
        guard let tags = try cover(expression) else {
            return try hasRegistration(where: reachesOne)
        }
        for place in places(of: tags) {
            if try registration(named: place).map(isReached) == true { return true }
            if let few = try few(place) {
                if few.contains(where: isReached) { return true }
            } else if try store.hasHubRegistration(tag: place.stored, where: reachesOne) {
                return true
            }
        }
        return false
    }

    /// The registration whose own tag that is.
    private func registration(named place: Place) throws(StoreError) -> KnownRegistration? {
        guard let id = place.tag.registrationID else { return nil }
        return try reader.find(place.namespace.stored(id.description), in: store)
    }

    /// Whether a notification in this format to that expression (nil: to all) is for such a registration.
    private func reaches(
        _ known: KnownRegistration, _ format: HubNotification.Format, _ expression: TagExpression?
    ) -> Bool {
        let (registration, description) = (known.registration, known.description)
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
}

/// Registrations of tags that several messages ask for.
private final class SharedAudiences: Sendable {
    /// As many are kept of a tag; a user rarely has more devices.
    static let few = 32

    private let byTag = Lock<[String: [KnownRegistration]?]>([:])

    /// - Parameter read: all that have the tag; nil where they are more than `few`.
    func few(
        _ tag: String, _ read: () throws(StoreError) -> [KnownRegistration]?
    ) throws(StoreError) -> [KnownRegistration]? {
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

    mutating func target(_ known: KnownRegistration) -> Target? {
        let registration = known.registration
        guard ids.insert(registration.id).inserted else { return nil }
        if case .native = format {
            guard channels.insert(registration.plainChannel).inserted else { return nil }
        }
        return Target(known)
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
