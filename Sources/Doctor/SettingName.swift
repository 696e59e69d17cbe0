// SPDX-License-Identifier: Apache-2.0

/// Names a key of the configuration so that an operator finds it.
package struct SettingName: Sendable {
    private let file: String?

    /// - Parameter file: the configuration file that was read; nil: there is none.
    package init(file: String?) {
        self.file = file
    }

    /// `hub.name in /etc/app-backend/app-backend.json`.
    package func callAsFunction(_ key: String) -> String {
        file.map { "\(key) in \($0)" } ?? "\(key), for which there is no configuration file yet"
    }
}
