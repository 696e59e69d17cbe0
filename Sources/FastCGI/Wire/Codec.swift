// SPDX-License-Identifier: Apache-2.0

/// One request as it was decoded.
struct WholeRequest {
    var environment = CGIEnvironment()
    var body: [UInt8] = []
    /// By which its records are known.
    var id: UInt16 = 0
    /// Whether the web server means to use the connection again (FCGI_KEEP_CONN).
    var keepsConnection = false
}

/// libfcgi's streams as a codec: bytes of a request in, environment and body out; bytes of an answer in, records out.
///
/// libfcgi reads what the validator has passed, where it is in memory, and writes records to the connection. So no peer
/// ever speaks to libfcgi, no read of it can block, and it knows no descriptor of ours.
///
/// One thread uses a codec.
final class Codec {
    private let reader = RecordReader()
    private let writer = RecordWriter()

    /// Decodes one request.
    /// - Parameter bytes: what the validator passed: whole records, with all parameters.
    func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> WholeRequest {
        var request = WholeRequest()
        guard let begin = RecordHeader(bytes.span, at: 0), bytes.count >= begin.recordLength else { return request }
        request.id = begin.requestID
        request.keepsConnection = bytes[RecordHeader.size + 2] & 1 != 0
        reader.begin(bytes, at: begin.recordLength, kind: RecordHeader.Kind.parameters)
        while let nameLength = reader.length(), let valueLength = reader.length() {
            reader.withBytes(nameLength + valueLength) { pair in
                request.environment.read(
                    name: UnsafeBufferPointer(rebasing: pair.prefix(nameLength)),
                    value: UnsafeBufferPointer(rebasing: pair.dropFirst(nameLength)))
            }
        }
        reader.begin(bytes, at: reader.offset, kind: RecordHeader.Kind.standardInput)
        // Of all bytes no more than these can be the body's.
        let rest = bytes.count - reader.offset
        if rest > RecordHeader.size { request.body = reader.read(rest) }
        return request
    }

    /// Writes the answer to the connection.
    /// - Parameter beforeWaiting: called when the peer does not take it at once.
    /// - Returns: false when the peer did not take it; then the connection is good for nothing.
    func encode(
        _ answer: [UInt8], to request: WholeRequest, on number: Int32, beforeWaiting: @escaping () -> Void
    ) -> Bool {
        writer.write(answer, requestID: request.id, to: number, beforeWaiting: beforeWaiting)
    }
}
