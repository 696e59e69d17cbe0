// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Text

/// The crossing from a `Response` to the bytes of a CGI answer (RFC 3875 section 6), into a buffer that is used again
/// and again.
struct CGIResponseEncoder {
    /// Bytes that the buffer keeps between two answers; a larger one is given back.
    static let keptBytes = 256 * 1024

    private(set) var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(4096)
    }

    /// Writes one answer, in place of the last one.
    ///
    /// The type of a body is always named, and `nosniff` with it, so that no browser guesses one (CVE-2020-24553 is what guessing
    /// looks like). `Status`, `Content-Length` and connection fields are ours, whatever the response says.
    /// - Parameter withoutBody: for HEAD: the fields that GET would have, and no body.
    /// - Throws: `IllegalField`, when a name or value would break out of its line; then nothing may be sent.
    mutating func write(_ response: Response, withoutBody: Bool = false) throws(IllegalField) {
        reset()
        write("Status: ")
        write(response.status.code)
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: response.status.reasonPhrase.utf8)
        endLine()
        let hasBody = response.status.code >= 200 && response.status.code != 204 && response.status.code != 304
        let (namesType, namesOptions) = try write(response.fields)
        if hasBody {
            if !response.body.isEmpty, !namesType { write("Content-Type: application/octet-stream\r\n") }
            write("Content-Length: ")
            write(response.body.count)
            endLine()
        }
        if !namesOptions { write("X-Content-Type-Options: nosniff\r\n") }
        endLine()
        if hasBody && !withoutBody { bytes.append(contentsOf: response.body) }
    }

    /// Writes a 500 without fields of its own, in place of an answer that could not be written.
    mutating func writeInternalServerError() {
        reset()
        write("Status: 500 Internal Server Error\r\nContent-Length: 0\r\nX-Content-Type-Options: nosniff\r\n\r\n")
    }

    /// A name or value with a byte that would end its line; carries neither.
    struct IllegalField: Error, Equatable {}

    /// - Returns: whether `Content-Type` and `X-Content-Type-Options` are among them.
    private mutating func write(_ fields: HTTPFields) throws(IllegalField) -> (type: Bool, options: Bool) {
        var found = (type: false, options: false)
        for field in fields where !Self.isOurs(field.name) {
            try write(name: field.name.rawName, value: field.value)
            if field.name == .contentType { found.type = true }
            if field.name == .xContentTypeOptions { found.options = true }
        }
        return found
    }

    /// Writes one field line.
    mutating func write(name: String, value: String) throws(IllegalField) {
        var (name, value) = (name, value)
        let start = bytes.count
        let isLegal = name.withUTF8 { name in
            bytes.append(contentsOf: name)
            return !name.isEmpty && name.allSatisfy(Self.isNameByte)
        }
        write(": ")
        let isWritten = value.withUTF8 { value in
            bytes.append(contentsOf: value)
            return value.allSatisfy(Self.isValueByte)
        }
        guard isLegal, isWritten else {
            bytes.removeSubrange(start...)
            throw IllegalField()
        }
        endLine()
    }

    private mutating func reset() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptBytes)
    }

    private mutating func write(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func write(_ number: Int) {
        bytes.append(contentsOf: String(number).utf8)
    }

    private mutating func endLine() {
        bytes.append(UInt8(ascii: "\r"))
        bytes.append(UInt8(ascii: "\n"))
    }

    private static let ours: [HTTPField.Name] =
        [.contentLength, .connection, .transferEncoding] + [HTTPField.Name("Status")].compactMap(\.self)

    private static func isOurs(_ name: HTTPField.Name) -> Bool {
        ours.contains(name)
    }

    /// A token (RFC 9110 section 5.6.2).
    private static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || "!#$%&'*+.^_`|~".utf8.contains(byte)
    }

    private static func isValueByte(_ byte: UInt8) -> Bool {
        byte != 0 && byte != UInt8(ascii: "\r") && byte != UInt8(ascii: "\n")
    }
}
