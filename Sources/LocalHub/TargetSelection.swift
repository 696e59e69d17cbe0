// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store

/// One device that a send reaches.
struct Target: Sendable {
    /// Nil in a direct send, which passes the registrations by.
    let registrationID: String?
    let description: RegistrationDescription
}

/// Finds whom a send reaches.
///
/// A native send reaches the native registrations of its platform, one per handle; a template send reaches every
/// template registration, of all platforms. `gcm` and `fcmv1` are one family: the same Android device may be registered
/// under either name, and Google ended the protocol of the first, so a send in either format reaches both.
struct TargetSelection: Sendable {
    let store: any HubStore
    let reader: RegistrationReader

    /// Registrations that are read at once where all are read.
    static let pageSize = 500

    /// Calls `visit` once for each target, in no order of meaning.
    ///
    /// The cost depends on what the expression's positive tags have, not on how many registrations there are. Only
    /// where nothing positive is required (a broadcast, `!a`) every registration is read, page by page.
    func forEach(
        _ format: HubNotification.Format, _ expression: TagExpression?, _ visit: (Target) -> Void
    ) throws(StoreError) {
        var reached = Reached(format: format, expression: expression)
        func offer(_ registration: HubRegistration) {
            guard let description = reader.read(registration) else { return }
            if let target = reached.target(registration, description) { visit(target) }
        }
        guard let tags = expression.flatMap(Self.cover) else { return try forEachRegistration(offer) }
        for tag in tags { try store.forEachHubRegistration(tag: tag.folded, offer) }
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

/// Who was reached already: a registration may come up under several tags, and a handle under several registrations.
private struct Reached {
    let format: HubNotification.Format
    let expression: TagExpression?
    private var ids: Set<String> = []
    private var channels: Set<String> = []

    init(format: HubNotification.Format, expression: TagExpression?) {
        self.format = format
        self.expression = expression
    }

    mutating func target(_ registration: HubRegistration, _ description: RegistrationDescription) -> Target? {
        guard format.reaches(description), expression?.matches(Set(description.tags)) != false,
            ids.insert(registration.id).inserted
        else { return nil }
        if case .native = format {
            guard channels.insert(registration.channel).inserted else { return nil }
        }
        return Target(registrationID: registration.id, description: description)
    }
}

extension HubNotification.Format {
    /// Whether a notification in this format is for such a registration, whatever its tags.
    fileprivate func reaches(_ registration: RegistrationDescription) -> Bool {
        switch self {
        case .template: registration.template != nil
        case .native(let platform):
            registration.template == nil && registration.platform.family == platform.family
        }
    }
}
