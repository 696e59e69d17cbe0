// SPDX-License-Identifier: Apache-2.0
import Push

/// Judges what a notification came to at the devices of a user.
struct SendFindings: Sendable {
    /// One device, or of a hub that tells of none, the devices of one platform.
    struct Target: Equatable, Sendable {
        var platform: String
        /// The registration id; nil: all devices of the platform.
        var id: String?
        var outcome: String
    }

    /// The user.
    let name: String
    /// How long the outcome was waited for.
    let seconds: Int

    /// - Parameter report: as far as it is known.
    func findings(_ report: SendReport, _ targets: [Target]) -> [Finding] {
        let waiting = report.lines.filter { !$0.isFinal }.map { line -> Finding in
            line.waitReason.map { Finding.fail("\(line.platform): the message waits: \($0)", fix: "the line `push`") }
                ?? .warning(
                    "\(line.platform): the outcome was not known in \(seconds) s",
                    fix: "`systemctl status app-backend`; later `app-backend outcome \(line.notificationID ?? "ID")`")
        }
        let refused = report.lines.compactMap { line in
            line.error.map { Finding.fail("\(line.platform): \($0)", fix: "`journalctl -u app-backend`") }
        }
        let findings = targets.map(judge) + waiting + refused
        return findings.isEmpty ? [noDevice] : findings
    }

    var noDevice: Finding {
        .warning("\(name) has no device", fix: "\(name) opens the app, or the page, and allows notifications")
    }

    private func judge(_ target: Target) -> Finding {
        let device = "\(target.platform)\(target.id.map { " \($0)" } ?? ""): \(target.outcome)"
        switch PushOutcome(rawValue: target.outcome) {
        case .success: return .ok("\(device); the push service has taken it")
        case .badChannel, .expiredChannel:
            return .warning(
                "\(device); the device is gone", fix: "the app, or the page, registers again when it is opened")
        case .skipped:
            return .warning("\(device); nothing delivers there", fix: "a credential for \(target.platform)")
        case .throttled, .channelThrottled, .dropped, .pnsServerError, .pnsUnavailable, .abandoned, .unknownError:
            return .warning(device, fix: "later again; the word, in docs/reference/messages.md")
        default: return .fail(device, fix: "the line `push`; the word, in docs/reference/messages.md")
        }
    }
}
