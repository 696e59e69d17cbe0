// SPDX-License-Identifier: Apache-2.0
internal import JSON

extension PushMessage {
    /// Whom a message is for, as `To` says it: one text, or a list of texts.
    public enum Recipients: Equatable, Sendable, ExpressibleByStringLiteral {
        /// A user's name; or `tag:` and a tag, `tag:news`: all devices that bear it; or `tags:` and an expression of tags,
        /// `tags:news && !beta`; or `role:` and a role, `role:oncall`: all devices of its users; or `device:` and the id of a
        /// registration.
        case one(String)
        /// Users' names, and tags and roles as above: 1 to `maximumRecipients` of them, however often each is named.
        case several([String])

        /// All devices of all users.
        public static let everyone = Recipients.one(everyoneText)
        /// No user has that name.
        public static let everyoneText = "*"

        /// As `one`.
        public init(stringLiteral text: String) { self = .one(text) }
    }

    /// A hub takes 20 tags in an expression, and one of them is for devices that hear the sender.
    public static let maximumRecipients = 19
}

extension PushMessage.Recipients {
    /// What separates several in `text`; it is in no name and in no tag.
    public static let separator = ", "

    /// Each of them.
    package var texts: [String] {
        switch self {
        case .one(let text): [text]
        case .several(let texts): texts
        }
    }

    /// As one text.
    public var text: String {
        texts.joined(separator: Self.separator)
    }

    func write(to json: inout JSONWriter) {
        switch self {
        case .one(let text): json.string(text)
        case .several(let texts): json.array(texts)
        }
    }
}

extension Fields {
    /// - Throws: `Problem` 400, when `To` is missing, or neither a text nor a list of texts.
    func recipients() throws(Problem) -> PushMessage.Recipients {
        let field = PushMessage.Member.to.rawValue
        return self[field]?.array == nil ? .one(try string(field)) : .several(try strings(field))
    }
}
