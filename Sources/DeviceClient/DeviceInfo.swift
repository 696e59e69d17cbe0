// SPDX-License-Identifier: Apache-2.0
public import DeviceAPI
import Text

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the app knows of the device it runs on: the installation's id, made at the first start and kept, and the token
/// that the push service gave it.
public struct DeviceInfo: Sendable {
    /// A UUID in upper case.
    public let installationID: String
    /// The token in upper-case hexadecimal digits, as hubs compare it; nil until the push service gave one.
    public private(set) var deviceTokenInHex: String?

    /// - Parameter storage: where the installation's id is found, or kept from now on.
    public init(storage: some InstallationIDStorage) {
        installationID = storage.installationID { UUID().uuidString }
    }

    /// Takes what `didRegisterForRemoteNotificationsWithDeviceToken` brings.
    /// - Parameter token: of any length: Apple says that it may change, so nothing counts on 32 bytes.
    public mutating func setDeviceToken(_ token: some Sequence<UInt8>) {
        deviceTokenInHex = Self.hexadecimal(token)
    }

    /// The bytes as upper-case hexadecimal digits.
    public static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = bytes.flatMap { [ASCII.upperHexDigits[Int($0 >> 4)], ASCII.upperHexDigits[Int($0 & 15)]] }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The body of the older tutorial's call; nil until there is a token.
    public var registration: InstallationRegistration? {
        deviceTokenInHex.map {
            InstallationRegistration(platform: .ios, installationID: installationID, handle: $0)
        }
    }
}
