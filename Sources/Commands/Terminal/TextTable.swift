// SPDX-License-Identifier: Apache-2.0

import Text

/// Rows of text as a table for people: numbers to the right, texts to the left. No cell breaks out of its line, and a terminal
/// obeys none: users have written some of them.
enum TextTable {
    /// - Parameter textColumns: those that begin at the left.
    /// - Returns: the lines, without blanks at their ends.
    static func lines(_ rows: [[String]], textColumns: Set<Int>) -> [String] {
        let rows = rows.map { $0.map(\.withoutControls) }
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            let cells = zip(row, widths).enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
                return textColumns.contains(column) ? cell.0 + blanks : blanks + cell.0
            }
            let line = cells.joined(separator: "  ")
            return line.lastIndex { $0 != " " }.map { String(line[...$0]) } ?? ""
        }
    }
}
