// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Text

/// One element of `localHub.keys`: a policy as Azure has it, with its name, its rights and one or two keys, both of which are
/// taken: `SharedAccessKeyName=sender;Rights=Send;PrimaryKey=…;SecondaryKey=…`.
struct HubKeyLine {
    /// More policies than this are not kept, as at Azure's hubs.
    static let maximumCount = 12
    /// A shorter key could be guessed, in bytes.
    static let minimumKeyLength = 32

    /// What is wrong with it; never any part of its keys.
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    let name: String
    /// The primary key, and the secondary one where there is one.
    let keys: [SharedAccessKey]

    /// Field names and rights are compared without case; fields may be in any order.
    /// - Throws: `Malformed`.
    init(_ text: String) throws(Malformed) {
        var values: [String: String] = [:]
        for part in text.utf8.split(separator: UInt8(ascii: ";")) {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")),
                let field = Self.fields.first(where: { ASCII.equalIgnoringCase($0, String(Substring(part[..<equals]))) }
                )
            else { throw Malformed(description: "has a part other than \(Self.fields.joined(separator: ", "))") }
            let value = String(Substring(part[part.index(after: equals)...]))
            guard values.updateValue(value, forKey: field) == nil else {
                throw Malformed(description: "has \(field) twice")
            }
        }
        let name = try Self.name(values["SharedAccessKeyName"])
        let rights = try Self.rights(values["Rights"])
        let texts = ["PrimaryKey", "SecondaryKey"].compactMap { values[$0] }
        guard values["PrimaryKey"] != nil else { throw Malformed(description: "has no PrimaryKey") }
        guard texts.allSatisfy(Self.isKey) else {
            throw Malformed(
                description: "has a key of fewer than \(Self.minimumKeyLength) characters, or of other than ASCII")
        }
        self.name = name
        keys = texts.map { SharedAccessKey(name: name, key: Secret($0), rights: rights) }
    }

    private static let fields = ["SharedAccessKeyName", "Rights", "PrimaryKey", "SecondaryKey"]

    private static func name(_ text: String?) throws(Malformed) -> String {
        guard let text, (1...ConnectionString.maximumKeyLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || "-._".utf8.contains($0) })
        else { throw Malformed(description: "needs a SharedAccessKeyName of letters, digits and - . _") }
        return text
    }

    private static func rights(_ text: String?) throws(Malformed) -> AccessRights {
        let words = (text ?? "").split(separator: "+").map { $0.lowercased() }
        let known: [String: AccessRights] = ["listen": .listen, "send": .send, "manage": .full]
        let rights = words.compactMap { known[$0] }
        guard !rights.isEmpty, rights.count == words.count else {
            throw Malformed(description: "needs Rights: Listen, Send, Listen+Send or Manage")
        }
        return rights.reduce(into: []) { $0.formUnion($1) }
    }

    private static func isKey(_ text: String) -> Bool {
        (minimumKeyLength...ConnectionString.maximumKeyLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
