// SPDX-License-Identifier: Apache-2.0
import Text

/// Divides a file into records while its bytes come, so that memory does not grow with the file.
protocol RecordScanner {
    /// - Returns: the records that end in this piece.
    mutating func records(in piece: [UInt8]) -> [ScannedRecord]
    /// - Returns: the record that the end of the file ends.
    mutating func end() -> [ScannedRecord]
}

/// A record as it is in the file.
struct ScannedRecord {
    enum Content: Equatable {
        /// The cells of a row.
        case cells([String])
        /// A text in JSON or XML.
        case text([UInt8])
    }

    /// Where it begins, from 1.
    let line: Int
    let content: Result<Content, ImportFault>

    /// The longest record, in bytes.
    static let maximumBytes = 1 << 20
}

/// Why a record is not imported. It never repeats a push token.
struct ImportFault: Error, Equatable {
    let reason: String

    static let tooLong = ImportFault(reason: "longer than \(ScannedRecord.maximumBytes) bytes")
    static let notUTF8 = ImportFault(reason: "not UTF-8")
}

/// A record in each line, as in JSON Lines. Blank lines are passed over.
struct LineScanner: RecordScanner {
    private var bytes: [UInt8] = []
    private var line = 1
    private var isTooLong = false

    mutating func records(in piece: [UInt8]) -> [ScannedRecord] {
        var records: [ScannedRecord] = []
        var rest = piece[...]
        while let end = rest.firstIndex(of: 0x0A) {
            add(rest[..<end])
            records += finish()
            line += 1
            rest = rest[(end + 1)...]
        }
        add(rest)
        return records
    }

    mutating func end() -> [ScannedRecord] { finish() }

    private mutating func add(_ more: ArraySlice<UInt8>) {
        isTooLong = isTooLong || bytes.count + more.count > ScannedRecord.maximumBytes
        if !isTooLong { bytes += more }
    }

    private mutating func finish() -> [ScannedRecord] {
        defer {
            bytes.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if isTooLong { return [ScannedRecord(line: line, content: .failure(.tooLong))] }
        guard !bytes.allSatisfy(ASCII.isBlank) else { return [] }
        return [ScannedRecord(line: line, content: .success(.text(bytes)))]
    }
}
