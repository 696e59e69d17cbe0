// SPDX-License-Identifier: Apache-2.0

/// Which events are dropped if too many wait: of the receiver with the most, those of the sender with the most there, the
/// oldest first. So no receiver that is down costs another one's events, and no user another user's.
enum WebhookRoom {
    /// - Returns: the ids of those that leave, so that `limit` stay.
    static func excess(of events: some Collection<WebhookEvent>, above limit: Int) -> [String] {
        guard events.count > limit else { return [] }
        let latestFirst = events.sorted { $1.isOlder(than: $0) }
        let bySender = inTurns(latestFirst) { [$0.endpoint, $0.source ?? ""] }
        return inTurns(bySender, by: \.endpoint).dropFirst(max(0, limit)).map(\.id)
    }

    /// The first of each key, then the second of each, and so on.
    private static func inTurns<Key: Hashable>(
        _ events: [WebhookEvent], by key: (WebhookEvent) -> Key
    ) -> [WebhookEvent] {
        var counts: [Key: Int] = [:]
        let turns = events.map { event in
            counts[key(event), default: 0] += 1
            return counts[key(event), default: 0]
        }
        return events.indices.sorted { (turns[$0], $0) < (turns[$1], $1) }.map { events[$0] }
    }
}
