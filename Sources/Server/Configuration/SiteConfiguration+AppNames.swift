// SPDX-License-Identifier: Apache-2.0
import APNs
import FCM
package import NotificationHub
import WNS

/// The names of the apps. A registration names its app by a tag, so the names must fit one and differ.
extension SiteConfiguration {
    /// By platform, each once and in the order of the configuration: the first is the default app. Of an app of Apple's the
    /// topic, of Google's the project's id, of Microsoft's the client's id or the package SID.
    package var appNames: [Platform: [String]] {
        var names: [Platform: [String]] = [:]
        for (platform, apps) in namedApps {
            for app in apps where names[platform]?.contains(app.name) != true {
                names[platform, default: []].append(app.name)
            }
        }
        return names
    }

    /// Refuses an app that is there twice, and a name that no tag may have.
    func checkApps(_ reading: inout ConfigurationReading) {
        for (_, apps) in namedApps {
            for (index, app) in apps.enumerated() {
                if (try? Tag(app: app.name)) == nil {
                    reading.fault(
                        app.key, "names no app: a name has at most \(Self.maximumAppName) letters, digits and - . : _")
                } else if apps[..<index].contains(where: { $0.isSame(as: app) }) {
                    reading.fault(app.key, "is there already: \(app.name)\(app.environment.map { ", \($0)" } ?? "")")
                }
            }
        }
    }

    private static let maximumAppName = Tag.maximumLength - Tag.appPrefix.count

    private struct NamedApp {
        /// Which names it: `apns.1.topic`.
        let key: String
        let name: String
        var environment: String?

        /// Tags are compared without case, so one app must not be spelled in two ways.
        func isSame(as other: NamedApp) -> Bool {
            name.lowercased() == other.name.lowercased() && (environment == other.environment || name != other.name)
        }
    }

    private var namedApps: [(platform: Platform, apps: [NamedApp])] {
        [
            (
                .apns,
                apns.map { NamedApp(key: "\($0.group).topic", name: $0.topic, environment: $0.environment.rawValue) }
            ),
            (.fcm, fcm.map { NamedApp(key: $0.group, name: $0.credential.projectID) }),
            (.wns, wns.map { NamedApp(key: $0.group, name: $0.credential.app) }),
        ]
    }
}
