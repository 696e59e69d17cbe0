// SPDX-License-Identifier: Apache-2.0
import Store
internal import Text

extension SecureNotification {
    /// As it is kept in a file, line feed included.
    var line: [UInt8] { LineCodec.encode { write(to: &$0) } }
}

extension NotificationSummary {
    private static let ownerName = [UInt8]("\"owner\":".utf8)
    private static let senderName = [UInt8]("\"sender\":".utf8)
    private static let tokenName = [UInt8]("\"token\":".utf8)
    private static let payloadStart = [UInt8]("\"payload\":\"".utf8)
    private static let plain = [UInt8](",\"plain\":true".utf8)
    private static let read = [UInt8](",\"read\":true".utf8)
    private static let createdName = [UInt8](",\"createdAt\":\"".utf8)
    private static let expiresName = [UInt8]("\",\"expiresAt\":\"".utf8)
    private static let sequenceName = [UInt8](",\"sequence\":".utf8)
    /// Of `2026-12-21T00:00:00Z`.
    private static let timeLength = 20

    /// Reads a line with a valid checksum as `SecureNotification.write(to:)` makes it, without parsing or copying its payload.
    /// - Returns: nil for a line of any other form, and for a broken one: it has to be parsed.
    init?(ownLine line: UnsafeBufferPointer<UInt8>) {
        var rest = LinePrefilter.Reader(line: line)
        guard let own = LinePrefilter.numbered(line), !own.isOp, rest.take(LinePrefilter.start), rest.token() != nil,
            rest.take(Self.ownerName), rest.token() != nil
        else { return nil }
        var sender = ""
        if rest.take(Self.senderName) {
            guard let token = rest.token() else { return nil }
            sender = LinePrefilter.text(token)
        }
        guard rest.take(Self.tokenName), let token = rest.token(), rest.take(Self.payloadStart), rest.skipString()
        else { return nil }
        let isPlain = rest.take(Self.plain)
        let isRead = rest.take(Self.read)
        guard rest.take(Self.createdName), let created = rest.time(Self.timeLength), rest.take(Self.expiresName),
            let expires = rest.time(Self.timeLength), rest.take([UInt8(ascii: "\"")])
        else { return nil }
        var sequence: Int64 = 0
        if rest.take(Self.sequenceName) {
            guard let token = rest.token(), let number = Int64(LinePrefilter.text(token)), number > 0 else {
                return nil
            }
            sequence = number
            rest.offset -= 1
        }
        guard line.count - rest.offset == LineCodec.checksumLength, LineCodec.hasValidChecksum(line)
        else { return nil }
        self.init(
            id: own.id, token: LinePrefilter.text(token), sender: sender, isPlain: isPlain, isRead: isRead,
            createdAt: created, sequence: sequence, expiresAt: expires, size: line.count + 1)
    }
}

extension LinePrefilter.Reader {
    /// Passes the rest of a string, and the quotation mark that ends it.
    fileprivate mutating func skipString() -> Bool {
        while offset < line.count {
            switch line[offset] {
            case UInt8(ascii: "\""):
                offset += 1
                return true
            case UInt8(ascii: "\\"): offset += 2
            default: offset += 1
            }
        }
        return false
    }

    fileprivate mutating func time(_ length: Int) -> Timestamp? {
        guard line.count - offset >= length else { return nil }
        let text = String(decoding: line[offset..<offset + length], as: UTF8.self)
        offset += length
        return Timestamp(text: text)
    }
}
