// SPDX-License-Identifier: Apache-2.0
import CFastCGI
import CPlatform
import Glibc

/// libfcgi as a codec: bytes of a request in, environment and body out; bytes of an answer in, records out.
///
/// libfcgi reads from a file in memory that holds exactly one request which the validator has passed, and writes to the
/// connection: `ipcFd` is what it reads from and writes to, and it is set again in between. So no peer ever speaks to
/// libfcgi, no read of it can block, and it never closes a connection. A pipe would do as well, but a user may have
/// 64 MiB of pipes only (`/proc/sys/fs/pipe-user-pages-soft`), which 256 workers use up.
///
/// One thread uses a codec; libfcgi keeps pointers into the request, which therefore has an address of its own.
final class Codec {
    private let request: UnsafeMutablePointer<FCGX_Request>
    /// The request's bytes; -1 where libfcgi has closed it and no new one could be had.
    private var file: Int32 = -1
    /// How long the file is.
    private var fileLength = 0

    /// Once per process, before the first request (FCGX_Init). It also replaces the handler of SIGPIPE, which is ignored
    /// from here on: a peer that goes away is an error of its own write.
    private static let isReady: Bool = {
        let result = FCGX_Init()
        signal(SIGPIPE, SIG_IGN)
        return result == 0
    }()

    /// - Throws: `ServerError.noDescriptor`.
    init() throws(ServerError) {
        guard Self.isReady else { throw .noDescriptor("FCGX_Init") }
        request = .allocate(capacity: 1)
        request.initialize(to: FCGX_Request())
        FCGX_InitRequest(request, -1, 0)
        file = platform_memory_file("request")
        guard file >= 0 else { throw .noDescriptor("memfd_create: \(systemErrorText())") }
    }

    deinit {
        FCGX_Free(request, 0)
        request.deallocate()
        if file >= 0 { close(file) }
    }

    /// Decodes one whole request.
    /// - Parameter bytes: what the validator passed, with the end of the body as the last record.
    /// - Returns: false when libfcgi does not take it, which the validator is there to prevent.
    func decode(_ bytes: UnsafeRawBufferPointer, _ end: [UInt8] = []) -> Bool {
        guard fill(bytes, end) else { return false }
        request.pointee.ipcFd = file
        // With this set, FCGX_Accept_r does not close ipcFd before it reads; the request's own flag replaces it.
        request.pointee.keepConnection = 1
        guard FCGX_Accept_r(request) == 0 else {
            // It has closed ipcFd; the next request gets a new one.
            file = -1
            return false
        }
        // An error inside the parameters is taken for their end, and reported here only.
        guard FCGX_GetError(request.pointee.in) == 0 else {
            release()
            return false
        }
        return true
    }

    /// Whether the web server means to use the connection again (FCGI_KEEP_CONN).
    var keepsConnection: Bool { request.pointee.keepConnection != 0 }

    /// The decoded parameters, until `encode`.
    var environment: CGIEnvironment {
        request.pointee.envp.map { CGIEnvironment($0) } ?? CGIEnvironment()
    }

    /// Reads the body to its end (FCGX_GetStr).
    /// - Parameter expected: bytes announced; room for so many is made at once.
    /// - Returns: nil when libfcgi reports an error.
    func body(expected: Int) -> [UInt8]? {
        // One byte more than announced, so that the first read also meets the end.
        var chunk = max(expected, 0) + 1
        var body: [UInt8] = []
        while true {
            let piece = [UInt8](unsafeUninitializedCapacity: chunk) { buffer, count in
                let read = buffer.withMemoryRebound(to: CChar.self) {
                    FCGX_GetStr($0.baseAddress, Int32(clamping: $0.count), request.pointee.in)
                }
                count = max(0, Int(read))
            }
            if body.isEmpty { body = piece } else { body += piece }
            if piece.count < chunk { break }
            chunk = ReceiveBuffer.firstRoom
        }
        return FCGX_GetError(request.pointee.in) == 0 ? body : nil
    }

    /// Writes the answer to the connection and forgets the request (FCGX_PutStr, FCGX_FClose).
    /// - Returns: false when the peer did not take it; then the connection is good for nothing.
    func encode(_ answer: [UInt8], to number: Int32) -> Bool {
        request.pointee.ipcFd = number
        let taken = answer.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(Int32.max)))
                let start = piece.assumingMemoryBound(to: CChar.self).baseAddress
                guard FCGX_PutStr(start, Int32(clamping: piece.count), request.pointee.out) == piece.count
                else { return false }
                rest = rest.dropFirst(piece.count)
            }
            return true
        }
        // The order of FCGX_Finish_r: the last to close writes the end of the request, together with the last output.
        let error = FCGX_FClose(request.pointee.err)
        let output = FCGX_FClose(request.pointee.out)
        release()
        return taken && error == 0 && output == 0
    }

    /// Forgets a request without an answer.
    func release() {
        request.pointee.ipcFd = -1
        request.pointee.keepConnection = 1
        FCGX_Free(request, 0)
        request.pointee.envp = nil
    }

    /// Puts the request, and nothing of an earlier one, into the file.
    private func fill(_ bytes: UnsafeRawBufferPointer, _ end: [UInt8]) -> Bool {
        if file < 0 { (file, fileLength) = (platform_memory_file("request"), 0) }
        let length = bytes.count + end.count
        guard file >= 0, pwrite(file, bytes.baseAddress, bytes.count, 0) == bytes.count,
            end.isEmpty || pwrite(file, end, end.count, off_t(bytes.count)) == end.count
        else {
            // It may be longer than before.
            fileLength = .max
            return false
        }
        // A third of the cost of all this, so only where it is needed.
        if length < fileLength, ftruncate(file, off_t(length)) != 0 { return false }
        fileLength = length
        return lseek(file, 0, SEEK_SET) == 0
    }
}
