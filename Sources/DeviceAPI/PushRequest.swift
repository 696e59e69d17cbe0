// SPDX-License-Identifier: Apache-2.0

/// What a developer sends to `POST /api/notifications/requests`, as the tutorial for .NET MAUI has it:
/// `{"text":"…","action":"action_a","tags":["…"],"silent":false}`.
public struct PushRequest: Equatable, Sendable {
    /// What is shown; with `isSilent` what the app reads as `message`.
    public var text: String?
    /// What the app is to do; it reads it as `action`.
    public var action: String?
    /// The devices that have one of these; empty: all of the caller's.
    public var tags: [String]
    /// Whether it wakes the app and shows nothing.
    public var isSilent: Bool

    /// - Throws: `Problem` 400, naming the field.
    public init(body: [UInt8]) throws(Problem) {
        let fields = try Fields(body: body, known: nil)
        text = try fields.visibleText("text")
        action = try fields.visibleText("action")
        tags = try fields.strings("tags")
        isSilent = try fields.bool("silent")
        guard isSilent || text != nil else {
            throw Problem(.missingValue, "text is missing: what is to be shown.", field: "text")
        }
        guard !isSilent || action != nil else {
            throw Problem(.missingValue, "action is missing: a silent request needs one.", field: "action")
        }
    }

    /// The same as a message object. `message` is a name that no sender's own data may have.
    /// - Parameter to: as `PushMessage.to`.
    public func message(to: PushMessage.Recipients) -> PushMessage {
        var data: [String: String] = [:]
        data["action"] = action
        if isSilent { data["message"] = text }
        return PushMessage(to: to, body: isSilent ? nil : text, data: data, isSilent: isSilent)
    }
}

extension Fields {
    /// A text that is more than white space; else it counts as missing, as in the tutorial.
    fileprivate func visibleText(_ name: String) throws(Problem) -> String? {
        guard let text = try optionalString(name), !text.allSatisfy(\.isWhitespace) else { return nil }
        return text
    }
}
