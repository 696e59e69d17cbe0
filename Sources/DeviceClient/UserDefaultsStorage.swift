// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Foundation

    /// Keeps both ids in the app's defaults, under the keys of the tutorials, so that an app that was built after them
    /// finds its own again.
    public struct UserDefaultsStorage: RegistrationIDStorage, InstallationIDStorage {
        private static let registrationKey = "RegistrationId"
        private static let installationKey = "PushToUserInstallationId"

        private let suiteName: String?

        /// - Parameter suiteName: an app group's defaults, shared with a notification service extension; nil for the
        ///   app's own.
        public init(suiteName: String? = nil) {
            self.suiteName = suiteName
        }

        /// Looked up at each call: `UserDefaults` is not `Sendable` in every SDK, its name is.
        private var defaults: UserDefaults {
            suiteName.flatMap { UserDefaults(suiteName: $0) } ?? .standard
        }

        /// The id under the tutorial's key `RegistrationId`.
        public func registrationID() -> String? {
            defaults.string(forKey: Self.registrationKey)
        }

        /// Keeps the id, or removes the key.
        public func setRegistrationID(_ id: String?) {
            defaults.set(id, forKey: Self.registrationKey)
        }

        /// Two processes that start for the first time in the same moment may make one each; the last one stays.
        public func installationID(orMake make: () -> String) -> String {
            if let id = defaults.string(forKey: Self.installationKey) { return id }
            let id = make()
            defaults.set(id, forKey: Self.installationKey)
            return id
        }
    }
#endif
