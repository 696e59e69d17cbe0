// SPDX-License-Identifier: Apache-2.0
import CPostgres

/// What a statement has answered: rows of columns in the protocol's binary form.
final class Rows: RandomAccessCollection {
    private let library: LibPQ
    private let result: OpaquePointer
    private let total: Int32

    /// - Parameter result: becomes this object's own.
    init(_ library: LibPQ, _ result: OpaquePointer) {
        self.library = library
        self.result = result
        total = library.functions.PQntuples(result)
    }

    deinit { library.functions.PQclear(result) }

    var startIndex: Int { 0 }
    var endIndex: Int { Int(total) }

    subscript(position: Int) -> Row { Row(rows: self, number: Int32(clamping: position)) }

    /// How many rows an INSERT, UPDATE or DELETE has touched.
    var changed: Int {
        library.functions.PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// Nil for NULL, and for a row or column that there is not.
    fileprivate func bytes(_ row: Int32, _ column: Int32) -> [UInt8]? {
        guard library.functions.PQgetisnull(result, row, column) == 0,
            let start = library.functions.PQgetvalue(result, row, column)
        else { return nil }
        let count = Int(library.functions.PQgetlength(result, row, column))
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// One row. Columns count from 0.
struct Row {
    fileprivate let rows: Rows
    fileprivate let number: Int32

    func optionalBytes(_ column: Int32) -> [UInt8]? { rows.bytes(number, column) }

    func bytes(_ column: Int32) throws(CallFailure) -> [UInt8] {
        guard let bytes = optionalBytes(column) else { throw .malformed }
        return bytes
    }

    func optionalString(_ column: Int32) throws(CallFailure) -> String? {
        guard let bytes = optionalBytes(column) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed }
        return text
    }

    func string(_ column: Int32) throws(CallFailure) -> String {
        guard let text = try optionalString(column) else { throw .malformed }
        return text
    }

    func optionalInteger(_ column: Int32) throws(CallFailure) -> Int64? {
        guard let bytes = optionalBytes(column) else { return nil }
        guard bytes.count == 8 else { throw .malformed }
        return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    func integer(_ column: Int32) throws(CallFailure) -> Int {
        guard let number = try optionalInteger(column) else { throw .malformed }
        return Int(number)
    }

    func bool(_ column: Int32) throws(CallFailure) -> Bool {
        guard let byte = optionalBytes(column)?.first else { throw .malformed }
        return byte != 0
    }
}
