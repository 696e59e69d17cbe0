// SPDX-License-Identifier: Apache-2.0
import Text

/// The objects of a JSON array, each a record. The array is the whole text, or the member `results` (Parse) or `users`
/// (Firebase) of an object.
struct JSONScanner: RecordScanner {
    static let members = ["results", "users"]
    /// Arrays and objects within each other.
    private static let maximumDepth = 64
    private static let opening = (array: UInt8(ascii: "["), object: UInt8(ascii: "{"))

    private var line = 1
    /// The arrays and objects that are open.
    private var open: [UInt8] = []
    /// The string in which the scanner is, or which it has passed last, of a member's name as much as is compared.
    private var text: [UInt8] = []
    private var isInString = false
    private var isEscaped = false
    /// The open arrays and objects around a record; 0: not in the array yet.
    private var listDepth = 0
    private var record: [UInt8] = []
    private var recordLine = 0
    private var hasEnded = false
    private var isBroken = false

    mutating func records(in piece: [UInt8]) -> [ScannedRecord] {
        var records: [ScannedRecord] = []
        for byte in piece where !isBroken {
            records += take(byte)
            if byte == 0x0A { line += 1 }
        }
        return records
    }

    mutating func end() -> [ScannedRecord] {
        if isBroken || hasEnded && open.isEmpty { return [] }
        return [broken(hasEnded || listDepth > 0 ? "the end of the file is missing" : "no list of records in the file")]
    }

    private mutating func broken(_ reason: String) -> ScannedRecord {
        isBroken = true
        return ScannedRecord(line: line, content: .failure(ImportFault(reason: reason)))
    }

    private var isInRecord: Bool { listDepth > 0 && open.count > listDepth }
    private var isBetweenRecords: Bool { listDepth > 0 && open.count == listDepth }

    private mutating func take(_ byte: UInt8) -> [ScannedRecord] {
        if isInRecord, record.count <= ScannedRecord.maximumBytes { record.append(byte) }
        if isInString { return takeInString(byte) }
        switch byte {
        case UInt8(ascii: "\""):
            isInString = true
            text = []
        case Self.opening.object: return begin(byte)
        case Self.opening.array where !isBetweenRecords: return begin(byte)
        case UInt8(ascii: "]"), UInt8(ascii: "}"): return close(byte)
        default: break
        }
        guard isBetweenRecords, byte != UInt8(ascii: ","), !ASCII.isBlank(byte) else { return [] }
        return [broken("expected an object, as the other records are; the rest of the file is not read")]
    }

    private mutating func takeInString(_ byte: UInt8) -> [ScannedRecord] {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
            return []
        }
        // A longer name is not in `members`.
        if !isInRecord, text.count < 16 { text.append(byte) }
        return []
    }

    private mutating func begin(_ byte: UInt8) -> [ScannedRecord] {
        if isBetweenRecords { (record, recordLine) = ([byte], line) }
        guard open.count < Self.maximumDepth else { return [broken("nested deeper than \(Self.maximumDepth)")] }
        open.append(byte)
        if !hasEnded, listDepth == 0, byte == Self.opening.array, isList { listDepth = open.count }
        return []
    }

    /// Whether the array that begins here is the one of the records.
    private var isList: Bool {
        open.count == 1
            || open.count == 2 && open.first == Self.opening.object
                && Self.members.contains { $0.utf8.elementsEqual(text) }
    }

    private mutating func close(_ byte: UInt8) -> [ScannedRecord] {
        let expected = byte == UInt8(ascii: "]") ? Self.opening.array : Self.opening.object
        guard open.popLast() == expected else { return [broken("'\(Unicode.Scalar(byte))' without its beginning")] }
        if open.count < listDepth { (listDepth, hasEnded) = (0, true) }
        guard isBetweenRecords else { return [] }
        defer { record = [] }
        guard record.count <= ScannedRecord.maximumBytes else {
            return [ScannedRecord(line: recordLine, content: .failure(.tooLong))]
        }
        return [ScannedRecord(line: recordLine, content: .success(.text(record)))]
    }
}
