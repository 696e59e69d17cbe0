// SPDX-License-Identifier: Apache-2.0
import CFastCGI
import Glibc

/// Reads the contents of one kind of records through libfcgi's functions for streams (FCGX_GetChar, FCGX_GetStr).
///
/// libfcgi's own reader takes its bytes from a descriptor. This one is a stream whose fill procedure shows the content of
/// the next record where it is in memory, so nothing is copied into a file or a buffer first.
///
/// One thread uses it, and only while the bytes are there that it was given.
final class RecordReader {
    /// libfcgi keeps pointers into it, and hands it to the fill procedure.
    private let stream: UnsafeMutablePointer<FCGX_Stream>
    private var records = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    private var kind: UInt8 = 0
    /// Where the next record begins.
    private(set) var offset = 0

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: FCGX_Stream())
        stream.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        stream.pointee.fillBuffProc = { stream in
            guard let stream, let data = stream.pointee.data else { return }
            Unmanaged<RecordReader>.fromOpaque(data).takeUnretainedValue().fill()
        }
    }

    deinit {
        stream.deallocate()
    }

    /// Begins with the record at that offset; the stream ends with an empty record, with one of another kind, or with the
    /// bytes.
    func begin(_ records: UnsafeBufferPointer<UInt8>, at offset: Int, kind: UInt8) {
        (self.records, self.offset, self.kind) = (records, offset, kind)
        stream.pointee.rdNext = nil
        stream.pointee.stop = nil
        stream.pointee.stopUnget = nil
        stream.pointee.isReader = 1
        stream.pointee.isClosed = 0
    }

    /// Shows the next content, which is not empty, or closes the stream.
    private func fill() {
        guard let header = RecordHeader(records.span, at: offset), header.kind == kind else {
            stream.pointee.isClosed = 1
            return
        }
        let start = min(offset + RecordHeader.size, records.count)
        let end = min(start + header.contentLength, records.count)
        offset = min(offset + header.recordLength, records.count)
        guard start < end, let base = records.baseAddress else {
            stream.pointee.isClosed = 1
            return
        }
        stream.pointee.rdNext = UnsafeMutablePointer(mutating: base + start)
        stream.pointee.stop = UnsafeMutablePointer(mutating: base + end)
    }

    /// The next byte; nil at the end (FCGX_GetChar).
    private func byte() -> Int? {
        let byte = FCGX_GetChar(stream)
        return byte < 0 ? nil : Int(byte)
    }

    /// The next length of a name or value: one byte, or four of which the first has its top bit set (FastCGI 1.0 section
    /// 3.4); nil at the end.
    func length() -> Int? {
        guard let first = byte() else { return nil }
        guard first & 0x80 != 0 else { return first }
        guard let second = byte(), let third = byte(), let fourth = byte() else { return nil }
        return (first & 0x7F) << 24 | second << 16 | third << 8 | fourth
    }

    /// Lends the next bytes, where they lie if they do in one record; fewer at the end (FCGX_GetStr).
    func withBytes(_ count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if let next = stream.pointee.rdNext, let stop = stream.pointee.stop, stop - next >= count {
            stream.pointee.rdNext = next + count
            return body(UnsafeBufferPointer(start: next, count: count))
        }
        read(count).withUnsafeBufferPointer(body)
    }

    /// The next bytes, at most so many; fewer at the end (FCGX_GetStr).
    func read(_ count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: min(count, records.count)) { buffer, filled in
            let read = buffer.withMemoryRebound(to: CChar.self) {
                FCGX_GetStr($0.baseAddress, Int32(clamping: $0.count), stream)
            }
            filled = max(0, Int(read))
        }
    }
}
