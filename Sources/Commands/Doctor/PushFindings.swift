// SPDX-License-Identifier: Apache-2.0

/// Judges whether browsers can be pushed to.
struct PushFindings: Sendable {
    /// What the configuration makes of Web Push.
    enum State: Equatable, Sendable {
        case on(publicKey: String, subject: String)
        case off(reason: String)
        /// A key of the configuration, and what is wrong with it.
        case faulty(key: String, reason: String)
    }

    let state: State
    let setting: SettingName

    /// - Parameters:
    ///   - running: what the service says; nil: it was not asked.
    ///   - unresolved: hosts of push services that have no address here.
    func findings(running: RunningConfiguration?, unresolved: [String]) -> [Finding] {
        switch state {
        case .off(let reason): return [.skipped("browsers are not pushed to: \(reason)")]
        case .faulty(let key, let reason):
            return [.fail("\(key): \(reason)", fix: "\(setting(key)); `app-backend keys vapid` makes a key")]
        case .on(let publicKey, let subject):
            let warnings = [Finding](table: [
                warn(
                    when: running.map { $0.vapidPublicKey != publicKey } ?? false,
                    "the service has \(running?.vapidPublicKey == nil ? "no key" : "another key") for browsers; here it is "
                        + publicKey,
                    fix: "`systemctl restart app-backend`, which reads \(setting("webPush.privateKeyFile")) again"),
                warn(
                    when: !unresolved.isEmpty,
                    "no address is known here of \(unresolved.joined(separator: ", ")), so browsers there get nothing",
                    fix: "the resolver: `getent hosts NAME`; \(setting("webPush.proxy")), where one is needed"),
            ])
            return warnings.isEmpty ? [.ok("browsers are pushed to as \(subject), by the key \(publicKey)")] : warnings
        }
    }
}
