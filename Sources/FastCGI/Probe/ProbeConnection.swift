// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import System

/// A client's connection to a FastCGI socket; every wait on it ends at one deadline.
struct ProbeConnection {
    /// MSG_NOSIGNAL, an enum and a macro that Swift does not import.
    private static let noSignal: Int32 = 0x4000

    private let descriptor: Descriptor
    /// On the clock of `Deadline`.
    private let deadline: Int64

    /// - Throws: `FastCGIProbe.Failure`.
    init(to address: SocketAddress, deadline: Int64) throws(FastCGIProbe.Failure) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(address.family, kind, 0)
        guard number >= 0 else { throw .system(numberedErrorText()) }
        descriptor = Descriptor(owning: number)
        self.deadline = deadline
        var address = address
        guard address.call({ connect(number, $0, $1) }) != 0 else { return }
        // A unix socket whose backlog is full answers EAGAIN: as many wait as may.
        guard errno == EINPROGRESS else { throw Self.failure(errno) }
        try wait(for: POLLOUT)
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else { throw Self.failure(code) }
    }

    func send(_ bytes: [UInt8]) throws(FastCGIProbe.Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(descriptor.number, $0.baseAddress, $0.count, Self.noSignal) }
            if sent < 0, errno == EAGAIN || errno == EINTR {
                try wait(for: POLLOUT)
                continue
            }
            guard sent > 0 else { throw Self.failure(errno) }
            rest = rest.dropFirst(sent)
        }
    }

    /// - Returns: the next bytes; none at the end.
    func receive() throws(FastCGIProbe.Failure) -> ArraySlice<UInt8> {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            try wait(for: POLLIN)
            let count = recv(descriptor.number, &buffer, buffer.count, 0)
            if count >= 0 { return buffer.prefix(count) }
            guard errno == EAGAIN || errno == EINTR else { throw Self.failure(errno) }
        }
    }

    private func wait(for event: Int32) throws(FastCGIProbe.Failure) {
        while true {
            let left = deadline - Deadline.now.milliseconds
            guard left > 0 else { throw .timedOut }
            var entry = pollfd(fd: descriptor.number, events: Int16(event), revents: 0)
            let count = poll(&entry, 1, Int32(clamping: left))
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw .system(numberedErrorText()) }
        }
    }

    private static func failure(_ code: Int32) -> FastCGIProbe.Failure {
        switch code {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .forbidden
        case ECONNREFUSED: .refused
        case EAGAIN, ETIMEDOUT: .timedOut
        case ECONNRESET, EPIPE: .hungUp
        default: .system(numberedErrorText(code))
        }
    }
}
