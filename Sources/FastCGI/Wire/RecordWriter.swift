// SPDX-License-Identifier: Apache-2.0
import CFastCGI
import CPlatform
import Glibc

/// Writes an answer through libfcgi's functions for streams (FCGX_PutStr, FCGX_FClose).
///
/// libfcgi's own writer blocks in write(2) without a word. This one is a stream whose empty procedure frames what is in its
/// buffer as records of standard output, the last ones with the end of the request (FastCGI 1.0 section 5.5), and says so
/// before it waits for the peer. One thread uses it.
final class RecordWriter {
    /// Bytes of content in one record: a multiple of eight, so that only the last one is padded.
    private static let contentBytes = 16 * 1024
    /// Bytes of the content of an end of request: the application's status and the protocol's (FastCGI 1.0 section 5.5).
    private static let statusBytes = 8
    /// Bytes behind the last content: padding, the end of the output, the end of the request.
    private static let endBytes = 7 + 2 * RecordHeader.size + statusBytes

    private let stream: UnsafeMutablePointer<FCGX_Stream>
    /// A header, content, and room for the end.
    private let buffer: UnsafeMutablePointer<UInt8>
    private var requestID: UInt16 = 0
    private var number: Int32 = -1

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: FCGX_Stream())
        buffer = .allocate(capacity: RecordHeader.size + Self.contentBytes + Self.endBytes)
        stream.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        stream.pointee.emptyBuffProc = { stream, isLast in
            guard let stream, let data = stream.pointee.data else { return }
            Unmanaged<RecordWriter>.fromOpaque(data).takeUnretainedValue().empty(isLast: isLast != 0)
        }
    }

    deinit {
        stream.deallocate()
        buffer.deallocate()
    }

    /// Writes a whole answer.
    /// - Parameter beforeWaiting: called each time when the peer does not take all at once, before it is waited for.
    /// - Returns: false when the peer did not take it; then the connection is good for nothing.
    func write(_ answer: [UInt8], requestID: UInt16, to number: Int32, beforeWaiting: @escaping () -> Void) -> Bool {
        (self.requestID, self.number, waiting) = (requestID, number, beforeWaiting)
        defer { waiting = nil }
        return put(answer)
    }

    private var waiting: (() -> Void)?

    private func put(_ answer: [UInt8]) -> Bool {
        stream.pointee.isReader = 0
        stream.pointee.isClosed = 0
        stream.pointee.wasFCloseCalled = 0
        stream.pointee.FCGI_errno = 0
        rewind()
        answer.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty, stream.pointee.isClosed == 0 {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(Int32.max)))
                FCGX_PutStr(
                    piece.assumingMemoryBound(to: CChar.self).baseAddress, Int32(clamping: piece.count), stream)
                rest = rest.dropFirst(piece.count)
            }
        }
        return FCGX_FClose(stream) == 0
    }

    private func rewind() {
        stream.pointee.wrNext = buffer + RecordHeader.size
        stream.pointee.stop = buffer + RecordHeader.size + Self.contentBytes
    }

    /// Sends what is in the buffer, as a record.
    private func empty(isLast: Bool) {
        guard stream.pointee.isClosed == 0, let next = stream.pointee.wrNext else { return }
        let count = next - (buffer + RecordHeader.size)
        var end = next
        var start = buffer
        if count > 0 {
            let padding = -count & 7
            writeHeader(at: buffer, kind: RecordHeader.Kind.standardOutput, length: count, padding: padding)
            end.update(repeating: 0, count: padding)
            end += padding
        } else {
            start += RecordHeader.size
        }
        if isLast {
            writeHeader(at: end, kind: RecordHeader.Kind.standardOutput, length: 0, padding: 0)
            end += RecordHeader.size
            writeHeader(at: end, kind: RecordHeader.Kind.endRequest, length: Self.statusBytes, padding: 0)
            end += RecordHeader.size
            // Both are 0.
            end.update(repeating: 0, count: Self.statusBytes)
            end += Self.statusBytes
        }
        if !send(UnsafeRawBufferPointer(start: start, count: end - start)) {
            stream.pointee.FCGI_errno = errno
            stream.pointee.isClosed = 1
        }
        rewind()
    }

    private func writeHeader(at place: UnsafeMutablePointer<UInt8>, kind: UInt8, length: Int, padding: Int) {
        place[0] = 1
        place[1] = kind
        place[2] = UInt8(requestID >> 8)
        place[3] = UInt8(requestID & 255)
        place[4] = UInt8(truncatingIfNeeded: length >> 8)
        place[5] = UInt8(truncatingIfNeeded: length)
        place[6] = UInt8(truncatingIfNeeded: padding)
        place[7] = 0
    }

    /// - Returns: false when the peer is gone, or has not taken it in time (SO_SNDTIMEO).
    private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest)
            var sent = platform_send_now(number, piece.baseAddress, piece.count)
            if sent < 0, errno == EAGAIN {
                waiting?()
                sent = platform_send(number, piece.baseAddress, piece.count)
            }
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }
}
