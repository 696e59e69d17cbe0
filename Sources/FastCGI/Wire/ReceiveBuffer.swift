// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// The bytes of one request as they arrive, and what the validator makes of them.
struct ReceiveBuffer: Sendable {
    /// Bytes of room at first; more only for a request that needs more.
    static let firstRoom = 16 * 1024

    /// How far the request has come.
    enum State: Equatable {
        case checked(RequestValidator.Result)
        /// The peer is gone.
        case closed
    }

    private var validator: RequestValidator
    /// Room; its first `used` bytes are the request.
    private var bytes: [UInt8]
    private(set) var used = 0
    /// Whether there may be bytes behind those that were received: the last look has filled all of its room.
    private(set) var mayHaveMore = false
    private(set) var state = State.checked(.incomplete)

    init(limits: ServerLimits) {
        validator = RequestValidator(limits: limits)
        bytes = [UInt8](repeating: 0, count: Self.firstRoom)
    }

    /// Makes it ready for the next request; keeps the room unless it had to grow.
    mutating func reset(limits: ServerLimits) {
        validator = RequestValidator(limits: limits)
        used = 0
        mayHaveMore = false
        state = .checked(.incomplete)
        if bytes.count > Self.firstRoom { bytes = [UInt8](repeating: 0, count: Self.firstRoom) }
    }

    /// The same request in no more memory than it needs: it will wait, and is whole.
    var trimmed: ReceiveBuffer {
        var buffer = self
        buffer.bytes = Array(bytes.prefix(used))
        return buffer
    }

    /// Bytes of memory that it holds.
    var room: Int { bytes.count }

    /// Whether nothing of a request has arrived.
    var isEmpty: Bool { used == 0 }

    /// Takes what has arrived, without waiting, until the validator has an opinion or nothing is left (recv).
    ///
    /// The room stays below twice the largest request: above that the validator has always said no.
    mutating func receive(from number: Int32) {
        while state == .checked(.incomplete) {
            if used == bytes.count { bytes.append(contentsOf: repeatElement(0, count: max(bytes.count, 1))) }
            let room = bytes.count - used
            let count = bytes.withUnsafeMutableBytes { buffer in
                platform_receive(number, buffer.baseAddress.map { $0 + used }, room)
            }
            mayHaveMore = count == room
            if count > 0 {
                used += count
                var validator = validator
                state = .checked(validator.validate(bytes.span.extracting(0..<used)))
                self.validator = validator
                if count < room { return }
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                state = .closed
            } else if errno == EAGAIN {
                return
            }
        }
    }

    /// Lends the first bytes of the request.
    func withBytes<Result>(first count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0.prefix(count))) }
    }
}
