// SPDX-License-Identifier: Apache-2.0
package import FCM
import NotificationHub
import Text

/// Google's devices: `fcm`.
extension SiteConfiguration {
    /// A Firebase project.
    package struct FCMProject: Sendable {
        let group: String
        package var credential: GoogleCredential
        package var calls: PushServiceCalls
    }
}

extension SiteConfiguration.FCMProject {
    static let settings: [Setting] =
        [
            Setting("fcm", .groups(), default: "none", "One Firebase project, or a list of them."),
            Setting(
                "fcm.credentialFile", .text, default: "none",
                """
                JSON file of the Firebase project's service account, or of workload identity federation. With it, the \
                built-in hub [delivers to Firebase](../operate/push-android.md).
                """),
            Setting(
                "fcm.credential", .text, is: [.secret, .document], default: "that of the file",
                "Text of the credential file. It replaces the file."),
        ]
        + SiteConfiguration.PushServiceCalls.settings(
            "fcm",
            endpoint: ("Google's", "As `apns.endpoint`. A credential file may then name this host as well."),
            of: { $0.fcm.map { ($0.group, $0.calls) } })

    init?(_ group: String, _ reading: inout ConfigurationReading) {
        self.group = group
        calls = SiteConfiguration.PushServiceCalls(group, &reading)
        let text = reading.secret(
            "\(group).credential", orFile: "\(group).credentialFile", "the JSON file of the project's service account",
            of: .fcm)
        guard let text else { return nil }
        do throws(GoogleCredentialError) {
            credential = try GoogleCredential(Array(text.value.reveal().utf8), trusting: calls.endpoint?.authority)
        } catch {
            reading.fault(text.key, "\(error)", of: .fcm)
            return nil
        }
        if FCMDriver(project: credential.projectID, now: { 0 }) == nil {
            reading.fault(text.key, "project_id: must be the project's id or number", of: .fcm)
            return nil
        }
    }
}
