// SPDX-License-Identifier: Apache-2.0

/// Whether browsers can be pushed to.
package struct PushStep: Sendable {
    /// What the configuration makes of Web Push.
    package enum State: Equatable, Sendable {
        case on(publicKey: String, subject: String)
        case off(reason: String)
        /// A key of the configuration, and what is wrong with it.
        case faulty(key: String, reason: String)
    }

    private let state: State
    private let setting: SettingName

    package init(_ state: State, setting: SettingName) {
        self.state = state
        self.setting = setting
    }

    /// - Parameters:
    ///   - running: what the service says; nil: it was not asked.
    ///   - unresolved: hosts of push services that have no address here.
    package func findings(running: RunningConfiguration?, unresolved: [String]) -> [Finding] {
        switch state {
        case .off(let reason): return [.skipped("browsers are not pushed to: \(reason)")]
        case .faulty(let key, let reason):
            return [.wrong("\(key): \(reason)", cure: "\(setting(key)); `app-backend keys vapid` makes a key")]
        case .on(let publicKey, let subject):
            let warnings = judge(running, publicKey) + judge(unresolved)
            return warnings.isEmpty ? [.ok("browsers are pushed to as \(subject), by the key \(publicKey)")] : warnings
        }
    }

    private func judge(_ running: RunningConfiguration?, _ publicKey: String) -> [Finding] {
        guard let running, running.vapidPublicKey != publicKey else { return [] }
        let theirs = running.vapidPublicKey == nil ? "no key" : "another key"
        return [
            .warning(
                "the service has \(theirs) for browsers; here it is \(publicKey)",
                cure: "`systemctl restart app-backend`, which reads \(setting("webPush.privateKeyFile")) anew")
        ]
    }

    private func judge(_ unresolved: [String]) -> [Finding] {
        guard !unresolved.isEmpty else { return [] }
        return [
            .warning(
                "no address is known here of \(unresolved.joined(separator: ", ")), so browsers there get nothing",
                cure: "the resolver: `getent hosts NAME`; \(setting("webPush.proxy")), where one is needed")
        ]
    }
}
