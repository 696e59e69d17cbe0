// SPDX-License-Identifier: Apache-2.0
import JSON
import Store
import Support
import Text

/// Records of every kind with texts that are hard to write down; the same ones in every run.
struct RandomRecords {
    var numbers: SeededRandom

    private static let pieces = [
        "a", "Z", "0", "\"", "\\", "/", "\n", "\t", "\u{0}", "\u{1F}", "\u{7F}", "é", "e\u{301}", "\u{1F514}", "{", "}",
        ",\"crc\":\"", "table", " ", "\u{2028}",
    ]

    init(seed: UInt64) {
        numbers = SeededRandom(seed: seed)
    }

    mutating func next() -> StoredRecord {
        switch Int.random(in: 0..<13, using: &numbers) {
        case 0: .user(User(name: text(), passwordHash: text(), tags: texts(), sendTo: texts(), version: version()))
        case 1:
            .notification(
                SecureNotification(
                    id: Int32.random(in: 1 ... .max - 1, using: &numbers), token: text(), owner: text(), sender: text(),
                    payload: text(), isPlain: flag(), isRead: flag(), createdAt: time(),
                    sequence: flag() ? 1_764_225_000_000_000 : 0, expiresAt: time()))
        case 2:
            .device(
                DeviceRecord(
                    id: text(), owner: text(), platform: text(), handle: text(), tags: texts() ?? [],
                    installationID: flag() ? text() : nil, alias: flag() ? text() : nil, needsReconciliation: flag(),
                    gone: flag() ? DeviceRecord.Gone(at: time(), reason: text()) : nil, updatedAt: time(),
                    version: version()))
        case 3:
            .session(Session(id: text(), owner: text(), binding: text(), createdAt: time(), expiresAt: time()))
        case 4: .sent(SentNotification(id: text(), owner: text(), expiresAt: time()))
        case 5:
            .idempotentRequest(
                IdempotentRequest(
                    owner: text(), key: text(), fingerprint: text(),
                    answer: flag() ? KeptAnswer(status: 200, contentType: text(), body: text()) : nil,
                    createdAt: time(), expiresAt: time()))
        case 6:
            .hubRegistration(
                HubRegistration(
                    id: text(), channel: text(), tags: texts() ?? [], description: document(), updatedAt: time(),
                    version: version()))
        case 7: .hubMessage(message())
        case 8:
            .message(
                SentMessage(
                    id: text(), owner: text(), to: text(), recipient: flag() ? text() : nil, sentAt: time(),
                    sequence: flag() ? 7 : 0, isSecure: flag(), keptID: flag() ? 7 : nil,
                    outcomes: [.init(platform: text(), state: text(), notificationID: flag() ? text() : nil)],
                    expiresAt: time()))
        case 9: .opening(MessageOpening(opener: text(), message: text(), expiresAt: time()))
        case 10: .scheduledSend(message())
        case 11: .lastSeen(LastSeen(owner: text(), at: time()))
        default: .queuedMessage(message())
        }
    }

    private mutating func message() -> HubMessage {
        HubMessage(
            id: text(), owner: flag() ? "o" + text() : nil, document: document(), createdAt: time(), expiresAt: time())
    }

    private mutating func flag() -> Bool { Bool.random(using: &numbers) }
    private mutating func version() -> Int { Int.random(in: 1...StoredRecord.maximumVersion, using: &numbers) }

    private mutating func text() -> String {
        (0..<Int.random(in: 0..<8, using: &numbers)).map { _ in
            Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &numbers)]
        }.joined()
    }

    private mutating func texts() -> [String]? {
        flag() ? (0..<Int.random(in: 0..<4, using: &numbers)).map { _ in text() } : nil
    }

    /// From 1970 to 2200: outside of four digits of a year no time can be written.
    private mutating func time() -> Timestamp {
        Timestamp(seconds: Int64.random(in: 0..<7_258_118_400, using: &numbers))
    }

    private mutating func document() -> JSONValue {
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0: .null
        case 1: .bool(flag())
        case 2: .number("-1.50e+3")
        case 3: .string(text())
        case 4: .array([document(), .string(text())])
        default: .object([JSONValue.Member("a", document()), JSONValue.Member("table", .string(text()))])
        }
    }
}
