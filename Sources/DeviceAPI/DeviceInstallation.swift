// SPDX-License-Identifier: Apache-2.0
import Text

/// What an app of the tutorial for .NET MAUI sends to `PUT /api/notifications/installations`:
/// `{"installationId":"…","platform":"fcmv1","pushChannel":"…","tags":["…"]}`.
public struct DeviceInstallation: Equatable, Sendable {
    /// In bytes.
    public static let maximumIDLength = 256

    /// The device's own name for the installation of the app.
    public var installationID: String
    /// As `DeviceRegistration.platform`.
    public var platform: String
    /// As `DeviceRegistration.handle`.
    public var pushChannel: String
    /// What the device wants to hear, besides what is sent to its user.
    public var tags: [String]

    /// - Throws: `Problem` 400, naming the field.
    public init(body: [UInt8]) throws(Problem) {
        let fields = try Fields(body: body, known: nil)
        installationID = try fields.string("installationId")
        guard installationID.utf8.count <= Self.maximumIDLength, Path.canName(installationID) else {
            throw Problem(
                .invalidValue,
                "installationId must have at most \(Self.maximumIDLength) bytes, no slash and no control character, and may "
                    + "not be . or .. alone.",
                field: "installationId")
        }
        platform = try fields.string("platform")
        pushChannel = try fields.string("pushChannel")
        tags = try fields.strings("tags")
    }
}
