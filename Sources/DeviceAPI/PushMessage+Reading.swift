// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Text

extension PushMessage {
    /// What FCM keeps at most: four weeks, in seconds.
    public static let maximumTimeToLive = 28 * 86_400
    /// In bytes, as APNs has it.
    public static let maximumCollapseIDLength = 64
    /// In bytes, of a URL.
    public static let maximumURLLength = 2_048
    /// In bytes, of Sound, Category and Thread, and of a name in Data.
    public static let maximumNameLength = 128
    /// Texts in Data.
    public static let maximumData = 64
    /// The number at an icon.
    public static let maximumBadge = 99_999

    /// Schemes that no link has: a URL of theirs is a program, or content, or reaches into another app.
    static let actingSchemes: Set<String> = ["javascript", "vbscript", "data", "blob", "file", "content", "intent"]

    /// Members that go with `Secure`: the text is all that is kept, and the others say which devices learn of it.
    public static let secureMembers: Set<Member> = [
        .to, .title, .body, .secure, .platforms, .fromDevice, .sendAt,
    ]
    /// Members that go with `Silent`: nothing is shown.
    public static let silentMembers: Set<Member> = [
        .to, .data, .priority, .timeToLive, .collapseID, .silent, .platforms, .fromDevice, .sendAt,
    ]

    /// - Throws: `Problem` 400, naming the member.
    public init(body: [UInt8]) throws(Problem) {
        let fields = try Fields(body: body, known: Member.allCases.map(\.rawValue))
        self.init(
            to: try fields.recipients(), title: try fields.text(.title), body: try fields.text(.body),
            data: try fields.data(), link: try fields.url(.link), image: try fields.url(.image, scheme: "https"),
            sound: try fields.word(.sound), badge: try fields.number(.badge, 0...Self.maximumBadge),
            category: try fields.word(.category), thread: try fields.word(.thread), priority: try fields.priority(),
            timeToLive: try fields.number(.timeToLive, 0...Self.maximumTimeToLive),
            collapseID: try fields.collapseID(), isSecure: try fields.bool("Secure"),
            isSilent: try fields.bool("Silent"), platforms: try fields.platforms(),
            fromDevice: try fields.filledText(.fromDevice), sendAt: try fields.filledText(.sendAt))
        try checkTogether()
    }

    private func checkTogether() throws(Problem) {
        if isSecure {
            try check(members, in: Self.secureMembers, "is not for a secure message, which keeps text alone")
        }
        if isSilent { return try check(members, in: Self.silentMembers, "is not for a silent message") }
        guard title != nil || body != nil else {
            throw Problem(.missingValue, "Title or Body is needed, or Silent.", field: "Body")
        }
    }

    /// - Throws: `Problem` 400, naming the first member that is not among the allowed ones.
    private func check(_ members: [Member], in allowed: Set<Member>, _ reason: String) throws(Problem) {
        guard let member = members.first(where: { !allowed.contains($0) }) else { return }
        throw Problem(.unexpectedMember, "\(member.rawValue) \(reason).", field: member.rawValue)
    }

    /// Why only its id cannot be sent in its place; nil: it can.
    public var secureFault: Problem? {
        do throws(Problem) {
            try check(members, in: Self.secureMembers, "cannot be sent here: only secure messages may be sent")
            return nil
        } catch {
            return error
        }
    }
}

extension Fields {
    fileprivate func text(_ member: PushMessage.Member) throws(Problem) -> String? {
        guard let text = try optionalString(member.rawValue), !text.isEmpty else { return nil }
        return text
    }

    /// As `text(_:)`, of a member that narrows a send: an empty one would do more than its sender has meant.
    fileprivate func filledText(_ member: PushMessage.Member) throws(Problem) -> String? {
        let text = try optionalString(member.rawValue)
        guard text?.isEmpty != true else { throw Self.isEmpty(member) }
        return text
    }

    /// As above: no platform is not all of them.
    fileprivate func platforms() throws(Problem) -> [String] {
        let member = PushMessage.Member.platforms
        let platforms = try strings(member.rawValue)
        guard self[member.rawValue] == nil || !platforms.isEmpty else { throw Self.isEmpty(member) }
        return platforms
    }

    private static func isEmpty(_ member: PushMessage.Member) -> Problem {
        Problem(.missingValue, "\(member.rawValue) is empty: leave it out, or fill it.", field: member.rawValue)
    }

    fileprivate func word(_ member: PushMessage.Member) throws(Problem) -> String? {
        guard let text = try text(member) else { return nil }
        let most = PushMessage.maximumNameLength
        guard text.utf8.count <= most, text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw Problem(
                .invalidValue, "\(member.rawValue) must have at most \(most) bytes and no control character.",
                field: member.rawValue)
        }
        return text
    }

    fileprivate func collapseID() throws(Problem) -> String? {
        guard let text = try text(.collapseID) else { return nil }
        let most = PushMessage.maximumCollapseIDLength
        guard text.utf8.count <= most, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem(
                .invalidValue, "CollapseId must have at most \(most) visible ASCII characters.", field: "CollapseId")
        }
        return text
    }

    /// - Parameter scheme: nil: any but those by which a page would run what the sender wrote.
    fileprivate func url(_ member: PushMessage.Member, scheme: String? = nil) throws(Problem) -> String? {
        guard let text = try text(member) else { return nil }
        let end = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.utf8.startIndex
        let given = text[..<end].lowercased()
        let isScheme =
            given.utf8.first.map(ASCII.isLetter) ?? false
            && given.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "+-.".utf8.contains($0) }
        guard text.utf8.count <= PushMessage.maximumURLLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            isScheme, text[end...].hasPrefix("://"), scheme == nil || given == scheme,
            !PushMessage.actingSchemes.contains(given)
        else {
            throw Problem(
                .invalidValue,
                "\(member.rawValue) must be a URL that begins with \(scheme ?? "a scheme and")://, of visible ASCII characters.",
                field: member.rawValue)
        }
        return text
    }

    fileprivate func number(
        _ member: PushMessage.Member, _ range: ClosedRange<Int>
    ) throws(Problem) -> Int? {
        guard let value = self[member.rawValue] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw Problem(
                .invalidValue,
                "\(member.rawValue) must be a whole number from \(range.lowerBound) to \(range.upperBound).",
                field: member.rawValue)
        }
        return number
    }

    fileprivate func priority() throws(Problem) -> PushMessage.Priority? {
        guard let text = try text(.priority) else { return nil }
        guard let priority = PushMessage.Priority(rawValue: text.lowercased()) else {
            throw Problem(.invalidValue, "Priority must be normal or high.", field: "Priority")
        }
        return priority
    }

    fileprivate func data() throws(Problem) -> [String: String] {
        guard let value = self["Data"] else { return [:] }
        guard let members = value.members, members.count <= PushMessage.maximumData else {
            throw Problem(
                .invalidValue, "Data must be an object of at most \(PushMessage.maximumData) texts.", field: "Data")
        }
        var data: [String: String] = [:]
        for member in members {
            guard DataName.isWellFormed(member.name) else {
                throw Problem(
                    .invalidValue,
                    "A name in Data must have 1 to \(PushMessage.maximumNameLength) visible ASCII characters.",
                    field: "Data")
            }
            let field = "Data.\(member.name)"
            guard !DataName.isTaken(member.name) else {
                throw Problem(
                    .invalidValue, "Data may not have this name, which a platform or this backend uses itself.",
                    field: field)
            }
            guard let text = member.value.string else {
                throw Problem(
                    .invalidValue, "Data holds texts alone, and one is \(member.value.kind).", field: field)
            }
            data[member.name] = text
        }
        return data
    }
}

/// Which names a sender's data may have.
private enum DataName {
    /// Apple's; Google's; and this backend's own, by which an app knows what to fetch, to mark as read or to call opened, who sent it and what to open.
    private static let taken: Set<String> = [
        "aps", "from", "message_type", "notification", "collapse_key", "secureid", "securetoken", "inappmessage",
        "message", "sender", "link", "image", "inboxid", "messageid", "inboxread", "inboxunread",
    ]

    static func isWellFormed(_ name: String) -> Bool {
        (1...PushMessage.maximumNameLength).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    static func isTaken(_ name: String) -> Bool {
        let lower = name.lowercased()
        return taken.contains(lower) || lower.hasPrefix("google") || lower.hasPrefix("gcm")
    }
}
