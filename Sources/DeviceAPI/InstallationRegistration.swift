// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// What the older tutorial's client sends to `POST /api/register`:
/// `{"platform":"ios","instId":"…","deviceToken":"…"}`; `windows` with `channelUri`, `android` with `deviceToken`.
/// `"app":"…"`, which the tutorial does not have, says which app the device is of.
public struct InstallationRegistration: Equatable, Sendable {
    /// The older tutorial's names of the platforms.
    public enum Platform: String, CaseIterable, Sendable {
        case ios, windows, android
    }

    /// Which push service the handle is of.
    public var platform: Platform
    /// Made once by the app and kept as long as it is installed.
    public var installationID: String
    /// Device token, or channel URI on Windows.
    public var handle: String
    /// As `DeviceRegistration.app`.
    public var app: String?

    /// A registration that is checked where it is received.
    public init(platform: Platform, installationID: String, handle: String, app: String? = nil) {
        self.platform = platform
        self.installationID = installationID
        self.handle = handle
        self.app = app
    }

    /// - Throws: `Problem` 400, naming the field.
    public init(body: [UInt8]) throws(Problem) {
        let fields = try Fields(body: body, known: nil)
        guard fields["Handle"] == nil || fields["instId"] != nil else {
            throw Problem(
                .unexpectedMember,
                "A device with a Handle registers by PUT /api/register/{id}; this call gives the id when it has no body.",
                field: "Handle")
        }
        let name = try fields.string("platform")
        guard let platform = Platform.allCases.first(where: { $0.rawValue == name.lowercased() }) else {
            throw Problem(.unknownPlatform, "platform must be one of ios, windows, android.", field: "platform")
        }
        self.platform = platform
        installationID = try fields.string("instId")
        handle = try fields.string(Self.handleField(of: platform))
        app = try fields.optionalString("app")
    }

    private static func handleField(of platform: Platform) -> String {
        platform == .windows ? "channelUri" : "deviceToken"
    }

    /// As it crosses the wire.
    public var json: [UInt8] {
        JSONWriter.object { json in
            json.member("platform", platform.rawValue)
            json.member("instId", installationID)
            json.member(Self.handleField(of: platform), handle)
            if let app { json.member("app", app) }
        }.bytes
    }
}
