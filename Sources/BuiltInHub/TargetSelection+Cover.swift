// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store

/// The tags by which a send looks for its devices.
extension TargetSelection {
    /// Tags of which every registration that the expression matches has at least one; nil when there are none such, as for a broadcast.
    ///
    /// Of the two sides of `&&` the one with fewer registrations is taken, whichever is written first.
    func cover(_ expression: TagExpression?) throws(StoreError) -> [Tag]? {
        guard let expression else { return nil }
        return try Self.cover(expression) { (one, other) throws(StoreError) in try isRarer(one, than: other) }
    }

    /// - Parameter isRarer: whether fewer registrations have one of the first tags than one of the second.
    static func cover(
        _ expression: TagExpression, isRarer: ([Tag], [Tag]) throws(StoreError) -> Bool
    ) throws(StoreError) -> [Tag]? {
        try cover(expression, isNegated: false, isRarer).map { tags in
            tags.reduce(into: [Tag]()) { if !$0.contains($1) { $0.append($1) } }
        }
    }

    private static func cover(
        _ expression: TagExpression, isNegated: Bool, _ isRarer: ([Tag], [Tag]) throws(StoreError) -> Bool
    ) throws(StoreError) -> [Tag]? {
        switch (expression, isNegated) {
        case (.tag(let tag), false): return [tag]
        case (.tag, true): return nil
        case (.not(let operand), _): return try cover(operand, isNegated: !isNegated, isRarer)
        case (.or(let one, let other), _), (.and(let one, let other), _):
            let first = try cover(one, isNegated: isNegated, isRarer)
            let second = try cover(other, isNegated: isNegated, isRarer)
            let needsBoth = if case .or = expression { !isNegated } else { isNegated }
            guard let first, let second else { return needsBoth ? nil : first ?? second }
            if needsBoth { return first + second }
            return try isRarer(second, first) ? second : first
        }
    }

    /// Registrations that are counted first, and how many times as many each time that both sides have more.
    private static let (firstCount, countGrowth, maximumCount) = (32, 8, 1 << 20)

    /// The cost depends on the rarer side: neither is counted much further than that.
    private func isRarer(_ one: [Tag], than other: [Tag]) throws(StoreError) -> Bool {
        var limit = Self.firstCount
        while limit <= Self.maximumCount {
            let (first, second) = (try count(one, limit: limit), try count(other, limit: limit))
            if first < limit || second < limit { return first < second }
            limit *= Self.countGrowth
        }
        return false
    }

    private func count(_ tags: [Tag], limit: Int) throws(StoreError) -> Int {
        var count = 0
        for place in places(of: tags) where count < limit {
            // Its own tag, which is not in the index, is of one registration.
            if place.tag.registrationID != nil { count += 1 }
            count += try store.hubRegistrationCount(tag: place.stored, limit: limit - count)
        }
        return min(count, limit)
    }
}
