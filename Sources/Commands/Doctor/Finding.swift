// SPDX-License-Identifier: Apache-2.0

/// The result of one check, from the best to the worst.
enum Verdict: String, Comparable, CaseIterable, Sendable {
    case ok
    /// Not looked at; the finding says why.
    case skipped
    /// It works, and the operator should know.
    case warning
    /// It does not work.
    case fail = "wrong"

    static func < (one: Verdict, other: Verdict) -> Bool { one.rank < other.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One thing that was found, in a line, and what to change about it. Never a password, key, token or handle.
struct Finding: Equatable, Sendable {
    let verdict: Verdict
    let found: String
    /// The setting to change, by file and name, or what to type; nil where there is nothing to do.
    let fix: String?

    static func ok(_ found: String) -> Finding { Finding(verdict: .ok, found: found, fix: nil) }
    static func skipped(_ found: String) -> Finding { Finding(verdict: .skipped, found: found, fix: nil) }
    static func warning(_ found: String, fix: String) -> Finding { Finding(verdict: .warning, found: found, fix: fix) }
    static func fail(_ found: String, fix: String) -> Finding { Finding(verdict: .fail, found: found, fix: fix) }
}

/// A row of a step's table: its condition, its sentence and its fix.
/// - Returns: nil, when the condition does not hold.
func fail(
    when condition: Bool, _ found: @autoclosure () -> String, fix: @autoclosure () -> String
) -> Finding? {
    condition ? .fail(found(), fix: fix()) : nil
}

/// As `fail(when:_:fix:)`.
func warn(
    when condition: Bool, _ found: @autoclosure () -> String, fix: @autoclosure () -> String
) -> Finding? {
    condition ? .warning(found(), fix: fix()) : nil
}

extension [Finding] {
    /// The rows of a table whose conditions hold.
    init(table: [Finding?]) {
        self = table.compactMap(\.self)
    }

    var hasFailed: Bool { contains { $0.verdict == .fail } }
}

/// The steps, in the order in which a request takes them.
enum Step: String, CaseIterable, Sendable {
    case configuration, nginx, socket, store, issuers, clock, tls, key, hub, push
    /// Only where it was asked for.
    case send
}

/// Names a key of the configuration so that an operator finds it.
struct SettingName: Sendable {
    /// The configuration file that was read; nil: there is none.
    let file: String?

    /// `hub.name in /etc/app-backend/app-backend.json`.
    func callAsFunction(_ key: String) -> String {
        file.map { "\(key) in \($0)" } ?? "\(key), for which there is no configuration file yet"
    }
}
