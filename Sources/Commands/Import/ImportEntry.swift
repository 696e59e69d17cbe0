// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import JSON
import Text

/// A user, and perhaps a device, of a list.
struct ImportEntry {
    /// As the list has the name.
    var user: String
    var device: DeviceRegistration?
    /// Why the list's device is not registered; nil: it is, or the list has none.
    var skipsDevice: ImportSkip?
    /// The id under which the device's app will register.
    var installation: String?
    /// Nil: the list has none, or one of a kind that cannot be checked here.
    var passwordHash: String?
    var hasForeignHash = false
    var isDisabled = false
}

/// Why a record that is right, or its device, is not imported.
enum ImportSkip: String, CaseIterable, Error {
    case noUser = "no user"
    case invalidToken = "push token is invalid at the former service"
    case browser = "browser: it must subscribe again, because its subscription is for the former service's key"
    case otherPlatform = "e-mail, SMS or a platform that is not supported"
    case disabledUser = "device of a disabled user"
    case removedUser = "user was removed here"
    case anotherUser = "another user has registered the device here"
}

extension ImportEntry {
    /// Reads a record.
    /// - Throws: `ImportFault`; `ImportSkip.noUser`.
    init(_ fields: [String: JSONValue], _ mapping: ImportMapping) throws {
        guard let user = try mapping.text(.user, in: fields) else { throw ImportSkip.noUser }
        self.init(user: Self.withoutClass(user))
        isDisabled = try mapping.flag(.disabled, in: fields)
        let hash = try mapping.text(.passwordHash, in: fields)
        passwordHash = hash.flatMap { PasswordHash.isAccepted($0) ? $0 : nil }
        hasForeignHash = hash != nil && passwordHash == nil
        guard passwordHash.map(PasswordHash.isAffordable) ?? true else {
            throw ImportFault(reason: PasswordHash.tooCostly)
        }
        guard let token = try mapping.text(.token, in: fields) else { return }
        do {
            if try mapping.flag(.invalid, in: fields) { throw ImportSkip.invalidToken }
            if isDisabled { throw ImportSkip.disabledUser }
            device = try Self.device(token, fields, mapping)
            installation = try mapping.text(.installation, in: fields)
        } catch let skip as ImportSkip {
            skipsDevice = skip
        }
    }

    private static func device(
        _ token: String, _ fields: [String: JSONValue], _ mapping: ImportMapping
    ) throws -> DeviceRegistration {
        let (p256dh, auth) = (try mapping.text(.p256dh, in: fields), try mapping.text(.auth, in: fields))
        let keys = p256dh == nil && auth == nil ? nil : DeviceRegistration.Keys(p256dh: p256dh ?? "", auth: auth ?? "")
        return DeviceRegistration(
            platform: try platform(mapping.value(.platform, in: fields), hasKeys: keys != nil), handle: token,
            tags: try tags(mapping.value(.tags, in: fields)?.value), keys: keys, app: try mapping.text(.app, in: fields)
        )
    }

    /// Parse writes a pointer to a user as `_User$abc`.
    private static func withoutClass(_ user: String) -> String {
        let prefix = "_User$"
        return user.hasPrefix(prefix) ? String(user.dropFirst(prefix.count)) : user
    }

    private static let platforms = [
        "apns": ["apns", "ios", "ipados", "macos", "osx", "tvos", "watchos", "apple"],
        "fcm": ["fcm", "fcmv1", "gcm", "android", "firebase"],
        "wns": ["wns", "windows", "winrt"],
        "mpns": ["mpns", "windowsphone", "winphone"],
        "browser": ["browser", "web", "webpush"],
    ]
    private static let unsupported = ["adm", "amazon", "baidu", "huawei", "email", "sms", "dotnet", "embedded"]
    private static let oneSignal = ["0": "apns", "1": "fcm", "3": "mpns", "6": "wns", "9": "apns"]
    private static let oneSignalBrowsers = ["4", "5", "7", "8"]
    private static let gorush = ["1": "apns", "2": "fcm"]

    private static func platform(_ found: (value: JSONValue, column: String)?, hasKeys: Bool) throws -> String {
        guard let found else {
            guard hasKeys else { throw ImportFault(reason: "a push token without a platform") }
            return "browser"
        }
        let text: String
        switch found.value {
        case .string(let value), .number(let value): text = value.lowercased()
        default: throw ImportFault(reason: "platform is \(found.value.kind), not a text")
        }
        if text.utf8.allSatisfy(ASCII.isDigit) {
            let isOneSignal = found.column == ImportField.oneSignalPlatform
            if isOneSignal, oneSignalBrowsers.contains(text) { throw ImportSkip.browser }
            guard let name = (isOneSignal ? oneSignal : gorush)[text] else { throw ImportSkip.otherPlatform }
            return name
        }
        if let name = platforms.first(where: { $0.value.contains(text) })?.key { return name }
        if unsupported.contains(text) { throw ImportSkip.otherPlatform }
        throw ImportFault(
            reason: "the platform must be one of apns, fcm, wns, mpns, browser, or ios, android, windows, web")
    }

    /// - Parameter value: an array; a text that is one in JSON, or has tags with commas, semicolons or blanks between them; an
    ///   object, as OneSignal's `{"level":"3"}`, which is the tag `level:3`.
    private static func tags(_ value: JSONValue?) throws(ImportFault) -> [String] {
        switch value {
        case nil: return []
        case .array(let elements)?:
            let texts = elements.compactMap(\.string)
            guard texts.count == elements.count else { throw ImportFault(reason: "tags must be texts") }
            return texts
        case .object(let members)?:
            var texts: [String] = []
            for member in members {
                switch member.value {
                case .string(""), .null: continue
                case .string(let text), .number(let text): texts.append("\(member.name):\(text)")
                case .bool(let value): texts.append("\(member.name):\(value)")
                default: throw ImportFault(reason: "the values of tags must be texts")
                }
            }
            return texts
        case .string(let text)?:
            if let value = try? JSONValue(parsing: Array(text.utf8)), value.array != nil || value.members != nil {
                return try tags(value)
            }
            // PostgreSQL writes an array in braces.
            return text.split { ",; {}".contains($0) }.map(String.init)
        default: throw ImportFault(reason: "tags must be texts")
        }
    }
}
