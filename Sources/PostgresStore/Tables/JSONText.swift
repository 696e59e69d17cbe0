// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
internal import Text

/// JSON in columns of text: lists of texts, and the hub's documents.
enum JSONText {
    static func array(_ texts: [String]) -> String {
        var json = JSONWriter()
        json.array(texts)
        return json.text
    }

    /// - Throws: what `checkDocument` throws.
    static func document(_ value: JSONValue) throws(StoreError) -> String {
        try value.checkDocument()
        return JSONWriter(value).text
    }
}

extension Row {
    func document(_ column: Int32) throws(CallFailure) -> JSONValue {
        try Self.json(bytes(column))
    }

    private static func json(_ bytes: [UInt8]) throws(CallFailure) -> JSONValue {
        do {
            return try JSONValue(parsing: bytes)
        } catch {
            throw .malformed
        }
    }

    /// Nil for NULL.
    func optionalTime(_ column: Int32) throws(CallFailure) -> Timestamp? {
        try optionalInteger(column).map { Timestamp(seconds: $0) }
    }

    func time(_ column: Int32) throws(CallFailure) -> Timestamp {
        Timestamp(seconds: Int64(try integer(column)))
    }
}
