// SPDX-License-Identifier: Apache-2.0
import NotificationHub

/// Which targets of a message wait for one credential and one service: those of one app on one platform.
struct LaneName: Hashable, Comparable {
    /// Of a native notification its own, of a template notification the devices' family.
    let platform: Platform
    /// In lower case; empty: targets that name no app, or one that there was no channel of.
    var app = ""

    /// - Parameter known: an app of which there is no lane is in that of devices that name none.
    init(
        of registration: RegistrationDescription, _ format: HubNotification.Format, among known: some Sequence<LaneName>
    ) {
        let platform = format.platform(of: registration)
        let named = LaneName(platform: platform, app: registration.app ?? "")
        self = known.contains(named) ? named : LaneName(platform: platform)
    }

    init(platform: Platform, app: String = "") {
        (self.platform, self.app) = (platform, app)
    }

    static func < (one: LaneName, other: LaneName) -> Bool {
        (one.platform.rawValue, one.app) < (other.platform.rawValue, other.app)
    }
}

/// In the store. All lanes of a native notification are of its platform, which is not repeated.
extension LaneName {
    func text(_ format: HubNotification.Format) -> String {
        if case .native = format { app } else { "\(platform.rawValue):\(app)" }
    }

    /// - Parameter text: what `text(_:)` has written; else nil.
    init?(_ text: String, _ format: HubNotification.Format) {
        if case .native(let platform) = format {
            self.init(platform: platform, app: text)
        } else {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let platform = parts.first.flatMap({ Platform(rawValue: String($0)) }),
                let app = parts.last
            else { return nil }
            self.init(platform: platform, app: String(app))
        }
    }
}

extension HubNotification.Format {
    /// The platform under which a target is counted as long as it is not looked at by itself.
    func platform(of registration: RegistrationDescription) -> Platform {
        if case .native(let platform) = self { platform } else { registration.platform.family }
    }
}
