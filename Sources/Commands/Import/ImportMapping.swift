// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import JSON

/// A value that the import reads from a record.
enum ImportField: String, CaseIterable {
    case user, platform, token, p256dh, auth, tags, app, installation
    case passwordHash = "password-hash"
    case disabled, invalid

    /// The columns that are taken for it, as `ImportRecord.name(_:)`; the first one that a record has counts. Of OneSignal's
    /// export are `external_user_id`, `identifier`, `device_type`, `invalid_identifier`; of Parse's `deviceType`,
    /// `deviceToken`, `_p_user`, `channels`, `_hashed_password`; of Firebase's `localId`.
    var columns: [String] {
        switch self {
        case .user:
            ["user", "username", "externaluserid", "externalid", "userid", "uid", "localid", "puser", "user.objectid"]
        case .platform: ["platform", Self.oneSignalPlatform, "pns"]
        case .token:
            [
                "token", "handle", "pushtoken", "identifier", "devicetoken", "registrationtoken", "fcmtoken",
                "registrationid", "endpoint", "pushchannel", "channeluri",
            ]
        case .p256dh: ["p256dh", "keys.p256dh"]
        case .auth: ["auth", "keys.auth"]
        case .tags: ["tags", "channels"]
        case .app: ["app"]
        case .installation: ["installation", "installationid"]
        case .passwordHash: ["passwordhash", "hashedpassword"]
        case .disabled: ["disabled"]
        case .invalid: ["invalididentifier"]
        }
    }

    /// In this column numbers are OneSignal's, in others gorush's.
    static let oneSignalPlatform = "devicetype"
}

/// Where the fields are in the records of a file.
struct ImportMapping {
    private var columns: [ImportField: [String]] = [:]
    private var constants: [ImportField: String] = [:]

    /// - Parameters:
    ///   - maps: each `FIELD=COLUMN`; without a column the field is not read.
    ///   - sets: each `FIELD=VALUE`, for all records.
    /// - Throws: `ValidationError`.
    init(maps: [String], sets: [String]) throws {
        for field in ImportField.allCases { columns[field] = field.columns }
        for text in maps {
            let (field, column) = try Self.pair(text, of: "--map")
            columns[field] = column.isEmpty ? [] : [ImportRecord.name(column)]
        }
        for text in sets {
            let (field, value) = try Self.pair(text, of: "--set")
            constants[field] = value
        }
    }

    private static func pair(_ text: String, of option: String) throws -> (ImportField, String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let field = ImportField(rawValue: String(parts[0])) else {
            let names = ImportField.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\(option) takes a field, = and a text, and the fields are \(names).")
        }
        return (field, String(parts[1]))
    }

    /// - Throws: `ImportFault`, when no user can be in a file of these columns, or no device in one with tokens.
    func check(_ names: [String]) throws(ImportFault) {
        func has(_ field: ImportField) -> Bool {
            constants[field] != nil || columns[field, default: []].contains(where: names.contains)
        }
        guard has(.user) else {
            throw ImportFault(
                reason: "the first row must name the columns, and none is the user: name it by --map user=COLUMN")
        }
        guard !has(.token) || has(.platform) || has(.p256dh) else {
            throw ImportFault(
                reason:
                    "no column is the platform: name it by --map platform=COLUMN, or --set platform=fcm for all rows")
        }
    }

    /// The value of a field, and its column; nil if the record has none, or an empty one.
    func value(_ field: ImportField, in fields: [String: JSONValue]) -> (value: JSONValue, column: String)? {
        if let constant = constants[field] { return constant.isEmpty ? nil : (.string(constant), "") }
        for column in columns[field, default: []] {
            guard let value = fields[column], !value.isNull, value.string != "" else { continue }
            // A pointer is not the name, but may hold it.
            if field != .tags, value.members != nil { continue }
            return (value, column)
        }
        return nil
    }

    func text(_ field: ImportField, in fields: [String: JSONValue]) throws(ImportFault) -> String? {
        guard let found = value(field, in: fields) else { return nil }
        switch found.value {
        case .string(let text), .number(let text): return text
        case .bool(let value): return value ? "true" : "false"
        default: throw ImportFault(reason: "\(field.rawValue) is \(found.value.kind), not a text")
        }
    }

    func flag(_ field: ImportField, in fields: [String: JSONValue]) throws(ImportFault) -> Bool {
        guard let text = try text(field, in: fields) else { return false }
        switch text.lowercased() {
        case "true", "t", "yes", "1": return true
        case "false", "f", "no", "0": return false
        default: throw ImportFault(reason: "\(field.rawValue) must be true or false")
        }
    }
}
