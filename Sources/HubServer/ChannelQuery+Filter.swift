// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Text

/// `$filter=ChannelUri eq '…'` and its relatives: which registrations belong to one device.
///
/// Every client spells it differently (field by platform, or `ChannelUri` for all; the URI percent-encoded once more;
/// hexadecimal digits in lower case; a quotation mark forgotten), and all are understood.
extension ChannelQuery {
    /// A filter longer than this is refused, in bytes; the longest handle, encoded twice, fits.
    private static let maximumLength = 16_384

    /// - Throws: `HubFault`, 400, for any other filter.
    init(filter text: String) throws(HubFault) {
        guard text.utf8.count <= Self.maximumLength, let terms = Self.terms(of: text) else { throw .unsupportedQuery }
        func value(_ name: String) -> String { terms.first { $0.field == name.lowercased() }?.value ?? "" }
        switch terms.map(\.field).sorted() {
        case ["channeluri"]: self.init(anyForm: value("ChannelUri"))
        case ["devicetoken"]: self.init(token: value("DeviceToken"))
        case ["baiduchannelid", "baiduuserid"]:
            self.init(channels: ["\(value("BaiduUserId"))-\(value("BaiduChannelId"))"], platforms: [.baidu])
        case ["endpoint"], ["auth", "endpoint", "p256dh"]:
            self.init(anyForm: value("Endpoint"), platforms: [.browser])
        case let fields:
            guard let field = fields.first, fields.count == 1, let platforms = Self.platforms(withHandle: field) else {
                throw .unsupportedQuery
            }
            self.init(channels: [value(field)], platforms: platforms)
        }
    }

    /// The platforms whose handles that field asks for, in lower case; nil: not a handle, or not enough for one.
    private static func platforms(withHandle field: String) -> [Platform]? {
        let named = Platform.allCases.first { $0.traits.handleElement.lowercased() == field }
        guard let named, named != .baidu else { return nil }
        return Platform.allCases.filter { $0.family == named.family }
    }
}

extension ChannelQuery {
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

extension HubFault {
    fileprivate static let unsupportedQuery = HubFault.bad("Unsupported query.")
}
