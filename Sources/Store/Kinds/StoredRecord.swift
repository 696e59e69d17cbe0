// SPDX-License-Identifier: Apache-2.0
package import JSON

/// A record of whatever kind, on its way from one store to another. As a line of an export it is
/// `{"table":"users","id":"alice",…}`, with the members that the table's files have.
package struct StoredRecord: Sendable {
    /// The table of the file store that keeps it; other stores use the same names for the kinds.
    package let table: String
    package let record: any KindRecord

    /// - Parameter table: nil: that of the record's kind.
    package init<Record: KindRecord>(_ record: Record, in table: String? = nil) {
        (self.table, self.record) = (table ?? Record.kind.name, record)
    }
}

extension StoredRecord: Hashable {
    package static func == (one: StoredRecord, other: StoredRecord) -> Bool {
        one.table == other.table && AnyHashable(one.record) == AnyHashable(other.record)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(record)) }
}

/// The kinds.
extension StoredRecord {
    package typealias Decoder = @Sendable (JSONValue) -> StoredRecord?

    /// The one list of all kinds.
    package static let kinds: [any KindRecord.Type] = [
        User.self, LastSeen.self, SecureNotification.self, DeviceRecord.self, Session.self, AppToken.self,
        SentNotification.self, SentMessage.self, MessageOpening.self, IdempotentRequest.self, HubRegistration.self,
        HubMessage.self,
    ]

    /// How a line of each table is read.
    package static let decoders = decoders(of: kinds)

    package static func decoders(of kinds: [any KindRecord.Type]) -> [String: Decoder] {
        let waiting: [String: Decoder] = [
            queue: queued, due: queued, sends: { HubMessage(line: $0).map(scheduledSend) },
        ]
        return kinds.reduce(into: waiting) { $1.add(to: &$0) }
    }

    /// Of every kind.
    package static var tables: Set<String> { Set(decoders.keys) }

    package static let queue = "hub/queue"
    /// A table of its own: a version that knows nothing of such messages would deliver them at once.
    package static let due = "hub/due"
    /// Of `WaitingList.sends`.
    package static let sends = "scheduled"

    private static let queued: Decoder = { HubMessage(line: $0).map(queuedMessage) }

    package static func user(_ user: User) -> StoredRecord { StoredRecord(user) }
    package static func lastSeen(_ seen: LastSeen) -> StoredRecord { StoredRecord(seen) }
    package static func notification(_ notification: SecureNotification) -> StoredRecord { StoredRecord(notification) }
    package static func device(_ device: DeviceRecord) -> StoredRecord { StoredRecord(device) }
    package static func session(_ session: Session) -> StoredRecord { StoredRecord(session) }
    package static func appToken(_ token: AppToken) -> StoredRecord { StoredRecord(token) }
    package static func sent(_ sent: SentNotification) -> StoredRecord { StoredRecord(sent) }
    package static func message(_ message: SentMessage) -> StoredRecord { StoredRecord(message) }
    package static func opening(_ opening: MessageOpening) -> StoredRecord { StoredRecord(opening) }
    package static func idempotentRequest(_ request: IdempotentRequest) -> StoredRecord { StoredRecord(request) }
    package static func hubRegistration(_ one: HubRegistration) -> StoredRecord { StoredRecord(one) }
    package static func hubMessage(_ message: HubMessage) -> StoredRecord { StoredRecord(message) }
    package static func queuedMessage(_ message: HubMessage) -> StoredRecord {
        StoredRecord(message, in: message.notBefore == nil ? queue : due)
    }
    package static func scheduledSend(_ message: HubMessage) -> StoredRecord { StoredRecord(message, in: sends) }
}

extension KindRecord {
    fileprivate static func add(to decoders: inout [String: StoredRecord.Decoder]) {
        decoders[kind.name] = { line in
            guard !kind.isVersioned || line.version != nil else { return nil }
            return Self(line: line).map { StoredRecord($0) }
        }
    }

    fileprivate func writeExport(to json: inout JSONWriter) {
        write(to: &json)
        if Self.kind.isVersioned { json.member("version", 1) }
    }

    /// Nil if changes of its kind are not counted.
    fileprivate var version: Int64? {
        guard case .integer(let version)? = Self.kind.content("version", of: self) else { return nil }
        return version
    }
}

/// Lines of an export.
extension StoredRecord {
    /// One JSON object, with the line feed.
    package var line: [UInt8] {
        let json = JSONWriter.object(reservingCapacity: 512) {
            $0.member("table", table)
            record.writeExport(to: &$0)
        }
        return json.bytes + [0x0A]
    }

    /// - Parameter line: what `line` wrote, with or without the line feed. Members that are not known are passed over.
    /// - Throws: `ExportFault`.
    package init(line: UnsafeBufferPointer<UInt8>) throws(ExportFault) {
        try self.init(ExportFault.parse(line))
    }

    init(_ value: JSONValue, _ decoders: [String: Decoder] = decoders) throws(ExportFault) {
        guard let table = value["table"]?.string else { throw ExportFault(reason: "no text in \"table\"") }
        guard let decode = decoders[table] else {
            throw ExportFault(reason: "\"table\" names none that this version knows")
        }
        guard let record = decode(value) else { throw ExportFault(reason: "a member is missing or of a wrong kind") }
        guard record.record.version ?? 0 <= Self.maximumVersion else {
            throw ExportFault(reason: "\"version\" is more than \(Self.maximumVersion)")
        }
        self = record
    }

    /// The highest version that an import brings: each change needs a higher one, so a record at the end of all numbers
    /// could never be changed again. No record is written that often; and a larger number other programs, which may
    /// have had the export in their hands, do not keep exactly (RFC 8259 section 6).
    package static let maximumVersion = (1 << 53) - 1
}

/// Why a line of an export, or the whole, cannot be used. The reason never repeats the line.
package struct ExportFault: Error, Equatable, Sendable {
    package let reason: String

    static func parse(_ line: UnsafeBufferPointer<UInt8>) throws(ExportFault) -> JSONValue {
        do throws(JSONSyntaxError) {
            return try JSONValue(parsing: line)
        } catch {
            throw ExportFault(reason: "not JSON: \(error)")
        }
    }
}
