// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Text

/// `$filter=ChannelUri eq '…'` and its relatives: which registrations belong to one device.
///
/// Every client spells it differently (field by platform, or `ChannelUri` for all; the URI percent-encoded once more;
/// hexadecimal digits in lower case; a quotation mark forgotten), and all are understood.
struct ChannelFilter: Equatable {
    /// What `HubRegistration.channel` may be; any of them.
    let channels: [String]
    /// The registration must be of one of these platforms; empty: of any.
    let platforms: [Platform]

    /// A filter longer than this is refused, in bytes; the longest handle, encoded twice, fits.
    static let maximumLength = 16_384

    /// - Throws: `HubRefusal`, 400, for any other filter.
    init(parsing text: String) throws(HubRefusal) {
        guard text.utf8.count <= Self.maximumLength, let terms = Self.terms(of: text) else { throw .unsupportedQuery }
        func value(_ name: String) -> String? { terms.first { $0.field == name.lowercased() }?.value }
        let names = terms.map(\.field).sorted()
        switch names {
        case ["channeluri"]: self.init(value("ChannelUri"), Self.anyForm, [])
        case ["devicetoken"]: self.init(value("DeviceToken"), Self.token, [.apns])
        case ["gcmregistrationid"]: self.init(value("GcmRegistrationId"), Self.verbatim, [.gcm, .fcm])
        case ["fcmv1registrationid"]: self.init(value("FcmV1RegistrationId"), Self.verbatim, [.fcm, .gcm])
        case ["admregistrationid"]: self.init(value("AdmRegistrationId"), Self.verbatim, [.adm])
        case ["baiduchannelid", "baiduuserid"]:
            let handle = "\(value("BaiduUserId") ?? "")-\(value("BaiduChannelId") ?? "")"
            self.init(handle, Self.verbatim, [.baidu])
        case ["endpoint"], ["auth", "endpoint", "p256dh"]: self.init(value("Endpoint"), Self.anyForm, [.browser])
        default: throw .unsupportedQuery
        }
    }

    private init(_ text: String?, _ forms: (String) -> [String], _ platforms: [Platform]) {
        var channels: [String] = []
        for form in forms(text ?? "") where !form.isEmpty && !channels.contains(form) { channels.append(form) }
        self.channels = channels
        self.platforms = platforms
    }

    func matches(_ platform: Platform) -> Bool { platforms.isEmpty || platforms.contains(platform) }

    private static func verbatim(_ text: String) -> [String] { [text] }

    private static func token(_ text: String) -> [String] {
        text.utf8.allSatisfy { ASCII.hexValue($0) != nil } ? [text.uppercased()] : []
    }

    /// The text as it is, as a token, and as a URI in the stored form: with and without the slash at its end, encoded
    /// or not.
    private static func anyForm(_ text: String) -> [String] {
        var forms = [text] + token(text)
        for uri in [text, PercentEncoding.decode(text.utf8)].compactMap(\.self) {
            let trimmed = uri.hasSuffix("/") ? String(uri.dropLast()) : uri
            for candidate in [uri, trimmed, trimmed + "/"] {
                if let handle = try? DeviceHandle.wns(candidate) { forms.append(handle.channel) }
            }
        }
        return forms
    }
}

extension ChannelFilter {
    /// A filter with more comparisons is refused.
    private static let maximumTerms = 3

    /// `Field eq 'value'`, joined by `and`; fields in lower case. Nil for anything else.
    private static func terms(of text: String) -> [(field: String, value: String)]? {
        var rest = Substring(text).utf8
        var terms: [(field: String, value: String)] = []
        while terms.count < maximumTerms {
            guard let field = word(&rest), let equals = word(&rest), ASCII.equalIgnoringCase(equals, "eq"),
                let value = literal(&rest)
            else { return nil }
            terms.append((field.lowercased(), value))
            guard let next = word(&rest) else { return rest.isEmpty ? terms : nil }
            guard ASCII.equalIgnoringCase(next, "and") else { return nil }
        }
        return nil
    }

    private static func skipBlanks(_ rest: inout Substring.UTF8View) {
        while rest.first == UInt8(ascii: " ") { rest.removeFirst() }
    }

    /// Letters and digits behind blanks; nil where there are none.
    private static func word(_ rest: inout Substring.UTF8View) -> String? {
        skipBlanks(&rest)
        let word = rest.prefix(while: ASCII.isAlphanumeric)
        rest = rest[word.endIndex...]
        return word.isEmpty ? nil : String(Substring(word))
    }

    /// A text up to its closing quotation mark, a doubled one meaning one. One client forgets the opening mark.
    private static func literal(_ rest: inout Substring.UTF8View) -> String? {
        skipBlanks(&rest)
        if rest.first == UInt8(ascii: "'") { rest.removeFirst() }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "'") else {
                bytes.append(byte)
                continue
            }
            guard rest.first == UInt8(ascii: "'") else { return String(validating: bytes, as: UTF8.self) }
            bytes.append(byte)
            rest.removeFirst()
        }
        return nil
    }
}

extension HubRefusal {
    fileprivate static let unsupportedQuery = HubRefusal.bad("Unsupported query.")
}
