// SPDX-License-Identifier: Apache-2.0
import System

/// The attempts that wait to be hashed, in their order: those from networks where users have logged in first, and of four turns
/// one of the others, so that no user with many networks keeps newcomers out; of both kinds one of each network in turn.
struct LogInLines {
    /// Of the known networks, one after the other, while others wait.
    private static let turnsInRow = 3

    private var known = NetworkLines()
    private var others = NetworkLines()
    private var inRow = 0

    mutating func append(_ attempt: LogInAttempt) {
        if attempt.isFromKnownNetwork { known.append(attempt) } else { others.append(attempt) }
    }

    /// Takes out the next one.
    mutating func next() -> LogInAttempt? {
        if inRow < Self.turnsInRow, let attempt = known.next() {
            inRow += 1
            return attempt
        }
        inRow = 0
        return others.next() ?? known.next()
    }

    /// Takes out those whose deadline has passed.
    mutating func overdue(at now: Deadline) -> [LogInAttempt] { known.overdue(at: now) + others.overdue(at: now) }
}

/// Attempts of several networks, which take turns.
private struct NetworkLines {
    private var lines: [ClientNetwork: ArraySlice<LogInAttempt>] = [:]
    /// The networks of `lines`, the next one first.
    private var turns: ArraySlice<ClientNetwork> = []

    mutating func append(_ attempt: LogInAttempt) {
        if lines[attempt.site] == nil { turns.append(attempt.site) }
        lines[attempt.site, default: []].append(attempt)
    }

    mutating func next() -> LogInAttempt? {
        while let site = turns.popFirst() {
            let attempt = lines[site]?.popFirst()
            // What was taken out stays in memory as long as the array does, and it has a password.
            if lines[site]?.isEmpty == false { turns.append(site) } else { lines[site] = nil }
            // Those of a network may all have been overdue.
            if let attempt { return attempt }
        }
        return nil
    }

    mutating func overdue(at now: Deadline) -> [LogInAttempt] {
        var overdue: [LogInAttempt] = []
        // Each line is in the order of the deadlines.
        for (site, line) in lines where line.first.map({ $0.deadline <= now }) ?? false {
            let late = line.prefix { $0.deadline <= now }
            overdue += late
            lines[site] = line.dropFirst(late.count)
        }
        return overdue
    }
}
