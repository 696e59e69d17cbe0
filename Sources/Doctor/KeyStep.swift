// SPDX-License-Identifier: Apache-2.0

/// Whether the hub takes the signatures that are made with our key, and what the key may do.
package struct KeyStep: Sendable {
    /// Every hub of Azure's begins with these two.
    private static let listenPolicy = "DefaultListenSharedAccessSignature"
    private static let fullPolicy = "DefaultFullSharedAccessSignature"

    private let hub: HubSubject
    private let isClockWrong: Bool

    /// - Parameter isClockWrong: whether signatures fail for the clock's sake, whatever the key.
    package init(_ hub: HubSubject, isClockWrong: Bool) {
        self.hub = hub
        self.isClockWrong = isClockWrong
    }

    package func findings(_ answer: HubAnswer) -> [Finding] {
        switch answer {
        case .accepted: [.ok("\(hub.keyName) is accepted, and has all rights")]
        case .badSignature where isClockWrong, .expired where isClockWrong:
            [.skipped("the hub refuses the signature, as it must while the clock is wrong; see `clock`")]
        case .badSignature: [badSignature]
        case .expired:
            [.wrong("the hub calls the signature expired", cure: "`date`; `timedatectl set-ntp true`")]
        case .missingRight: [missingRight]
        case .noSuchHub, .notAHub, .failing, .throttled, .noAnswer:
            [.skipped("the hub has not said what it thinks of the key; see `hub`")]
        }
    }

    private var badSignature: Finding {
        let isOwnPolicy = hub.keyName != Self.fullPolicy && hub.keyName != Self.listenPolicy
        let hint = isOwnPolicy ? ". \(hub.keyName) is none of the two policies that every hub has" : ""
        return .wrong(
            "the hub does not accept the signature: the key is not that of \(hub.keyName), or of another hub\(hint)",
            cure: "SharedAccessKeyName and SharedAccessKey in \(hub.connectionString): copy the string of "
                + "\(Self.fullPolicy) anew")
    }

    /// What it may still do cannot be asked without doing it.
    private var missingRight: Finding {
        let found =
            hub.keyName == Self.listenPolicy
            ? "\(hub.keyName) may register devices, and can never send" : "\(hub.keyName) is accepted, and lacks rights"
        return .wrong(
            found,
            cure:
                "SharedAccessKeyName and SharedAccessKey in \(hub.connectionString): those of \(Self.fullPolicy), or a "
                + "policy with Listen, Send and Manage")
    }
}
