// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Text

/// Builds a response from what arrives of it, within its limits.
struct ResponseBuilder {
    private(set) var isTooLarge = false
    private var isHeaderWhole = false
    /// Whether the header is that of a 1xx answer, behind which another one comes.
    private var isInterim = false
    /// What follows the status, of HTTP/1.1: WNS tells two meanings of 410 apart by it.
    private var phrase = ""
    private var fields = HTTPFields()
    private var body: [UInt8] = []
    private var lines = 0
    private var lineBytes = 0
    private let maximumBodyBytes: Int

    init(maximumBodyBytes: Int) {
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// Takes one header line as libcurl hands it over (`CURLOPT_HEADERFUNCTION`): with its line end, the status line
    /// and the empty line included, 1xx answers and trailers as well.
    /// - Returns: false, when the header is larger than allowed.
    mutating func take(headerLine line: UnsafeRawBufferPointer) -> Bool {
        lines += 1
        lineBytes += line.count
        guard lines <= CurlOptions.maximumResponseFields, lineBytes <= CurlOptions.maximumResponseFieldBytes else {
            isTooLarge = true
            return false
        }
        if line.starts(with: "HTTP/".utf8) {
            (fields, isHeaderWhole) = (HTTPFields(), false)
            let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
            isInterim = parts.count > 1 && parts[1].first == UInt8(ascii: "1")
            phrase = parts.count > 2 ? Self.phrase(parts[2]) : ""
        } else if line.elementsEqual("\r\n".utf8) {
            isHeaderWhole = !isInterim
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        {
            fields.append(HTTPField(name: name, value: Self.trimmed(line[(colon + 1)...])))
        }
        return true
    }

    /// Whether all of it is there, as far as it says itself how long it is.
    var isWhole: Bool { isHeaderWhole && fields[.contentLength].flatMap { Int($0) } == body.count }

    /// - Returns: false, when the body is larger than allowed.
    mutating func take(body part: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= maximumBodyBytes - body.count else {
            isTooLarge = true
            return false
        }
        body.append(contentsOf: part)
        return true
    }

    /// - Throws: `interrupted`, when the status is not one of a final answer.
    func response(status: Int) throws(TransportError) -> Response {
        guard (200...999).contains(status) else { throw .interrupted(reason: "an answer without a status") }
        return Response(status: HTTPResponse.Status(code: status, reasonPhrase: phrase), fields: fields, body: body)
    }

    /// Of a line whose length is bounded; what is no printable ASCII is left out.
    private static func phrase(_ text: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: text.filter { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
    }

    private static func trimmed(_ value: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        guard let first = value.firstIndex(where: { !ASCII.isBlank($0) }),
            let last = value.lastIndex(where: { !ASCII.isBlank($0) })
        else { return [] }
        return Array(value[first...last])
    }
}
