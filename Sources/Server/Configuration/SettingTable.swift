// SPDX-License-Identifier: Apache-2.0

/// The settings that there are, in the order of the reference.
package struct SettingTable: Sendable {
    /// A chapter of the reference.
    package struct Section: Sendable {
        package let title: String
        package let rows: [Setting]
    }

    package let sections: [Section]
    /// The rows of keys that have values, and not those of whole groups.
    package let rows: [Setting]
    private let byKey: [String: Setting]
    /// The names of the groups of which there may be a list.
    let groupNames: [String]
    /// The rows of their keys.
    private let groups: [String: [Setting]]

    package static let all = SettingTable([
        Section(title: "Store", rows: StoreLocation.settings),
        Section(title: "Process and socket", rows: SiteConfiguration.processSettings),
        Section(title: "Azure Notification Hubs", rows: SiteConfiguration.Hub.settings),
        Section(title: "Built-in hub for other backends", rows: SiteConfiguration.ServedHub.settings),
        Section(title: "Browsers", rows: SiteConfiguration.WebPush.settings),
        Section(title: "Apple", rows: SiteConfiguration.APNsApp.settings),
        Section(title: "Android: Firebase", rows: SiteConfiguration.FCMProject.settings),
        Section(title: "Windows", rows: SiteConfiguration.WNSApp.settings),
        Section(
            title: "Authentication",
            rows: SiteConfiguration.methodSettings + SiteConfiguration.Issuer.settings
                + SiteConfiguration.sessionSettings),
        Section(title: "Permissions and roles", rows: SiteConfiguration.roleSettings),
        Section(title: "Messages and inbox", rows: SiteConfiguration.messageSettings),
        Section(title: "Webhooks", rows: SiteConfiguration.Webhook.settings),
        Section(title: "Limits of requests and users", rows: SiteConfiguration.limitSettings),
    ])

    init(_ sections: [Section]) {
        self.sections = sections
        let all = sections.flatMap(\.rows)
        groupNames = all.filter(\.isGroup).map(\.key)
        rows = all.filter { !$0.isGroup }
        byKey = Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
        groups = Dictionary(
            groupNames.map { name in (name, all.filter { $0.key.hasPrefix(name + ".") }) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The row of a key, which may have a number in a list of groups. `nil`: there is no such key.
    subscript(key: String) -> Setting? { byKey[general(key)] }

    /// The keys of all rows.
    var keys: [String] { rows.map(\.key) }

    /// The keys whose values are secrets.
    package var secretKeys: [String] { rows.filter { $0.traits.contains(.secret) }.map(\.key) }

    /// The rows of the keys in a group of which there may be a list. `nil`: there may not be one.
    func group(_ name: String) -> [Setting]? { groups[name] }

    /// Whether a key is one of a group of which there may be a list.
    func isInGroup(_ key: String) -> Bool { groupNames.contains { key.hasPrefix($0 + ".") } }

    /// Returns the key without the place in the list: `apns.1.topic` is known as `apns.topic`.
    func general(_ key: String) -> String {
        guard let group = groupNames.first(where: { key.hasPrefix($0 + ".") }) else { return key }
        let parts = key.dropFirst(group.count + 1).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, Int(parts[0]) != nil else { return key }
        return "\(group).\(parts[1])"
    }
}

extension Setting {
    /// Whether it is the row of a whole group.
    fileprivate var isGroup: Bool { if case .groups = form { true } else { false } }
}
