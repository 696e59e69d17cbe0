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
        try write(response.fields)
        if hasBody {
            if !response.body.isEmpty, !response.fields.contains(.contentType) {
                write("Content-Type: application/octet-stream\r\n")
            }
            write("Content-Length: ")
            write(response.body.count)
            endLine()
        }
        if !response.fields.contains(.xContentTypeOptions) { write("X-Content-Type-Options: nosniff\r\n") }
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

    private mutating func write(_ fields: HTTPFields) throws(IllegalField) {
        for field in fields where !Self.isOurs(field.name) {
            try write(name: field.name.rawName.utf8, value: field.value.utf8)
        }
    }

    /// Writes one field line.
    mutating func write(name: some Collection<UInt8>, value: some Collection<UInt8>) throws(IllegalField) {
        guard !name.isEmpty, name.allSatisfy(Self.isNameByte), value.allSatisfy(Self.isValueByte) else {
            throw IllegalField()
        }
        bytes.append(contentsOf: name)
        write(": ")
        bytes.append(contentsOf: value)
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
        ASCII.isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func isValueByte(_ byte: UInt8) -> Bool {
        byte != 0 && byte != UInt8(ascii: "\r") && byte != UInt8(ascii: "\n")
    }
}
