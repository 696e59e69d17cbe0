// SPDX-License-Identifier: Apache-2.0
import System

/// The attempts that wait to be hashed, in their order: users where they are known first, then one of each network in turn.
struct LogInLines {
    private var known: ArraySlice<LogInAttempt> = []
    private var strangers: [ClientNetwork: ArraySlice<LogInAttempt>] = [:]
    /// The networks of `strangers`, the next one first.
    private var turns: ArraySlice<ClientNetwork> = []

    mutating func append(_ attempt: LogInAttempt) {
        guard !attempt.isKnown else { return known.append(attempt) }
        if strangers[attempt.site] == nil { turns.append(attempt.site) }
        strangers[attempt.site, default: []].append(attempt)
    }

    /// Takes out the next one.
    mutating func next() -> LogInAttempt? {
        if let attempt = known.popFirst() {
            // What was taken out stays in memory as long as the array does, and it has a password.
            if known.isEmpty { known = [] }
            return attempt
        }
        while let site = turns.popFirst() {
            let attempt = strangers[site]?.popFirst()
            if strangers[site]?.isEmpty == false { turns.append(site) } else { strangers[site] = nil }
            // Those of a network may all have been overdue.
            if let attempt { return attempt }
        }
        return nil
    }

    /// Takes out those whose deadline has passed.
    mutating func overdue(at now: Deadline) -> [LogInAttempt] {
        // Each line is in the order of the deadlines.
        func cut(_ line: inout ArraySlice<LogInAttempt>) -> ArraySlice<LogInAttempt> {
            let late = line.prefix { $0.deadline <= now }
            line = line.dropFirst(late.count)
            return late
        }
        var late = Array(cut(&known))
        for (site, var line) in strangers where line.first.map({ $0.deadline <= now }) ?? false {
            late += cut(&line)
            strangers[site] = line
        }
        return late
    }
}
