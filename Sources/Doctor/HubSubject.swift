// SPDX-License-Identifier: Apache-2.0

/// The hub as the configuration names it, for the words of the three steps that judge it.
package struct HubSubject: Sendable {
    package let name: String
    /// The endpoint's host, with its port where one is named.
    package let host: String
    /// The policy's name.
    package let keyName: String
    package let caFile: String?
    let setting: SettingName

    package init(
        name: String, host: String, keyName: String, caFile: String?, setting: SettingName
    ) {
        self.name = name
        self.host = host
        self.keyName = keyName
        self.caFile = caFile
        self.setting = setting
    }

    /// The key of the configuration that holds endpoint, key name and key, and where else it may stand.
    var connectionString: String { "\(setting("hub.connectionString")) (or in the credential of that name)" }
}
