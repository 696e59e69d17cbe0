// SPDX-License-Identifier: Apache-2.0

/// How something was found to be, from the best to the worst.
package enum Verdict: String, Comparable, Sendable, CaseIterable {
    case ok
    /// It was not looked at; the finding says why.
    case skipped
    /// It works, and somebody should know.
    case warning
    /// It does not work.
    case wrong

    package static func < (one: Verdict, other: Verdict) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .ok: 0
        case .skipped: 1
        case .warning: 2
        case .wrong: 3
        }
    }
}

/// One thing that was found, in a line, and what to change about it. Never a password, key, token or handle.
package struct Finding: Equatable, Sendable {
    package let verdict: Verdict
    package let found: String
    /// The setting to change, by file and name, or what to type; nil where there is nothing to do.
    package let cure: String?

    package static func ok(_ found: String) -> Finding { Finding(verdict: .ok, found: found, cure: nil) }
    package static func skipped(_ found: String) -> Finding { Finding(verdict: .skipped, found: found, cure: nil) }

    package static func warning(_ found: String, cure: String) -> Finding {
        Finding(verdict: .warning, found: found, cure: cure)
    }

    package static func wrong(_ found: String, cure: String) -> Finding {
        Finding(verdict: .wrong, found: found, cure: cure)
    }
}

/// The steps, in the order in which a request takes them.
package enum Step: String, CaseIterable, Sendable {
    case configuration, nginx, socket, store, clock, tls, key, hub, push
}
