// SPDX-License-Identifier: Apache-2.0
import Push

/// Judges what the push services of telephones say of the credentials that they were shown.
struct ChannelFindings: Sendable {
    let setting: SettingName

    /// A channel of the running service whose messages wait. This command's own question may be answered otherwise: the
    /// credential may have been changed meanwhile.
    func finding(_ waiting: RunningService.WaitingChannel) -> Finding {
        let messages = "\(waiting.name): since \(waiting.since) the messages of the running service wait for"
        return switch waiting.cause {
        case .token:
            .fail(
                "\(messages) an access token: \(waiting.reason)",
                fix: "the line of \(waiting.name) below; where that is right, wait: the service asks again by itself")
        case .connection:
            .fail(
                "\(messages) a trusted connection: \(waiting.reason)",
                fix: "what the reason says; then wait: the service tries again by itself")
        case .app:
            .warning(
                "\(waiting.name): since \(waiting.since) the push service refuses device after device: \(waiting.reason)",
                fix:
                    "\(group(waiting.name)): the credential of the app's own project or team; no registration is removed "
                    + "while no device is reached")
        case .credential:
            .fail(
                "\(messages) its credential: \(waiting.reason)",
                fix: "\(group(waiting.name)); then `systemctl restart app-backend`")
        }
    }

    private func group(_ channel: String) -> String { setting(groupName(channel)) }
    private func groupName(_ channel: String) -> String { String(channel.prefix { $0 != " " }) }

    /// - Parameters:
    ///   - channel: `apns com.example.app sandbox`, which is of the group `apns`.
    ///   - result: nil: the service did not answer in time.
    func finding(_ channel: String, _ result: PushResult?) -> Finding {
        let group = group(channel)
        guard let result else {
            return .fail("\(channel): no answer from its push service", fix: "the network; --timeout; \(group)")
        }
        if case .holdCredential(let reason) = result.action {
            return .fail("\(channel): the push service refuses the credential: \(reason)", fix: group)
        }
        switch result.outcome {
        // It has looked at the device or at the message, and so has accepted the credential.
        case .success, .badChannel, .wrongChannel, .expiredChannel, .invalidNotificationFormat:
            return .ok("\(channel): the push service accepts the credential")
        case .pnsUnreachable where result.fault != nil:
            return .fail(
                "\(channel): \(result.reason ?? "the push service is not trusted")",
                fix: result.fault?.fix(caFile: setting("\(groupName(channel)).caFile")) ?? group)
        case .pnsUnreachable:
            let reason = result.reason.map { ": \($0)" } ?? ""
            return .fail(
                "\(channel): the push service cannot be reached\(reason)", fix: "the network and its firewall; \(group)"
            )
        case .throttled, .pnsServerError, .pnsUnavailable:
            return .warning("\(channel): the push service is busy or out of order", fix: "try again later")
        default:
            return .fail(
                "\(channel): the push service answers \(result.reason ?? result.outcome.rawValue)", fix: group)
        }
    }
}
