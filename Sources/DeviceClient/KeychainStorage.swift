// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
    import Foundation
    import Security

    /// Keeps credentials and the registration's id in the keychain of this device, for the app and for its extensions.
    ///
    /// The items are there from the first time that the device is unlocked after its start, so that a push can be answered while it
    /// is locked. They are in no backup and on no other device.
    public struct KeychainStorage: RegistrationIDStorage {
        /// Why the keychain did not do it.
        public enum Failure: Error, Equatable, Sendable {
            /// Security's own status. -25308, `errSecInteractionNotAllowed`: the device was not unlocked since its start.
            /// -34018, `errSecMissingEntitlement`: the program may not use this access group.
            case status(Int32)
            /// Credentials with a provider, which is code: there is nothing to keep.
            case notKeepable
        }

        private enum Account: String {
            case credentials = "Credentials"
            case registrationID = "RegistrationId"
        }

        private let service: String
        private let accessGroup: String?

        /// - Parameters:
        ///   - service: the backend that the items are for, such as `push.example.com`.
        ///   - accessGroup: of the app and its extensions, with the team's prefix: `ABCDE12345.com.example.shared`. nil: items are
        ///     added to the app's first one, and read, changed and deleted in all of them. An app uses the one or the other.
        public init(service: String, accessGroup: String? = nil) {
            self.service = service
            self.accessGroup = accessGroup
        }

        /// The credentials kept last; nil before any were kept.
        /// - Throws: `Failure.status`.
        public func credentials() throws(Failure) -> Credentials? {
            try read(.credentials).flatMap { Credentials(secretJSON: [UInt8]($0)) }
        }

        /// Keeps the credentials; nil forgets them.
        /// - Throws: `Failure`; then those from before are still kept.
        public func setCredentials(_ credentials: Credentials?) throws(Failure) {
            guard let credentials else { return try write(nil, .credentials) }
            guard let json = credentials.secretJSON else { throw .notKeepable }
            try write(Data(json), .credentials)
        }

        /// The id kept last; nil also when the keychain cannot be read now.
        public func registrationID() -> String? {
            ((try? read(.registrationID)) ?? nil).flatMap { String(data: $0, encoding: .utf8) }
        }

        /// Keeps the id; nil forgets it. An id that cannot be kept costs one call at the next registration.
        public func setRegistrationID(_ id: String?) {
            try? write(id.map { Data($0.utf8) }, .registrationID)
        }
    }

    extension KeychainStorage {
        private func query(_ account: Account) -> [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: service,
                kSecAttrAccount as String: account.rawValue,
                // The keychain of iOS on macOS, too: the other one knows no access groups.
                kSecUseDataProtectionKeychain as String: true,
            ]
            if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
            return query
        }

        private func read(_ account: Account) throws(Failure) -> Data? {
            var query = query(account)
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status != errSecItemNotFound else { return nil }
            guard status == errSecSuccess else { throw .status(status) }
            return found as? Data
        }

        private func write(_ data: Data?, _ account: Account) throws(Failure) {
            let query = query(account)
            guard let data else { return try check(SecItemDelete(query as CFDictionary), besides: errSecItemNotFound) }
            let values: [String: Any] = [
                kSecValueData as String: data,
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                let item = query.merging(values) { _, new in new }
                status = SecItemAdd(item as CFDictionary, nil)
                // An extension was faster.
                if status == errSecDuplicateItem {
                    status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
                }
            }
            try check(status)
        }

        private func check(_ status: OSStatus, besides accepted: OSStatus = errSecSuccess) throws(Failure) {
            guard status == errSecSuccess || status == accepted else { throw .status(status) }
        }
    }
#endif
