// SPDX-License-Identifier: Apache-2.0
import Text

/// Rows of comma-separated values (RFC 4180). In the place of the comma may be a semicolon or a tab: the one that is first in
/// the first row. Blank lines are passed over. After a row that is wrong it goes on at the next line.
struct CSVScanner: RecordScanner {
    private enum State {
        case fieldStart, plain, quoted
        /// Behind a quotation mark in a quoted field: its end, or the first half of a mark in it.
        case quoteEnded
        case wrong(ImportFault)
    }

    private static let separators = [UInt8](",;\t".utf8)
    private static let quote = UInt8(ascii: "\"")

    private var state = State.fieldStart
    /// Nil in the first row, as long as there was none.
    private var separator: UInt8?
    private var cells: [[UInt8]] = []
    private var cell: [UInt8] = []
    private var size = 0
    private var line = 1
    private var firstLine = 1
    private var hasReturn = false

    mutating func records(in piece: [UInt8]) -> [ScannedRecord] {
        var records: [ScannedRecord] = []
        for byte in piece {
            take(byte)
            guard byte == 0x0A else { continue }
            if case .quoted = state {
                line += 1
                continue
            }
            records += finish()
            line += 1
            firstLine = line
        }
        return records
    }

    mutating func end() -> [ScannedRecord] {
        if case .quoted = state { fail("a quoted field without its end") }
        return finish()
    }

    private mutating func fail(_ reason: String) { state = .wrong(ImportFault(reason: reason)) }

    private mutating func take(_ byte: UInt8) {
        if case .wrong = state { return }
        size += 1
        guard size <= ScannedRecord.maximumBytes else { return state = .wrong(.tooLong) }
        guard byte != 0 else { return fail("a NUL character") }
        if case .quoted = state {
            if byte == Self.quote { state = .quoteEnded } else { cell.append(byte) }
            return
        }
        if byte == 0x0A { return }
        guard !hasReturn else { return fail("a carriage return within the line") }
        if byte == 0x0D { return hasReturn = true }
        if isSeparator(byte) { return endCell() }
        switch state {
        case .fieldStart where byte == Self.quote: state = .quoted
        case .quoteEnded where byte == Self.quote:
            cell.append(byte)
            state = .quoted
        case .quoteEnded: fail("text behind a quoted field")
        case .plain where byte == Self.quote: fail("a quotation mark within a field that does not begin with one")
        default:
            cell.append(byte)
            state = .plain
        }
    }

    private mutating func isSeparator(_ byte: UInt8) -> Bool {
        if separator == nil, Self.separators.contains(byte) { separator = byte }
        return byte == separator
    }

    private mutating func endCell() {
        cells.append(cell)
        cell = []
        state = .fieldStart
    }

    private mutating func finish() -> [ScannedRecord] {
        defer {
            (state, cells, cell, size, hasReturn) = (.fieldStart, [], [], 0, false)
        }
        if case .wrong(let fault) = state { return [ScannedRecord(line: firstLine, content: .failure(fault))] }
        if case .fieldStart = state, cells.isEmpty { return [] }
        endCell()
        separator = separator ?? Self.separators.first
        var texts: [String] = []
        for cell in cells {
            guard let text = String(validUTF8: cell) else {
                return [ScannedRecord(line: firstLine, content: .failure(.notUTF8))]
            }
            texts.append(text)
        }
        return [ScannedRecord(line: firstLine, content: .success(.cells(texts)))]
    }
}
