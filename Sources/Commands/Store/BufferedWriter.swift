// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store
import System

/// A file that is written from its beginning to its end, in larger pieces than those that come.
struct BufferedWriter {
    private static let pieceBytes = 256 << 10

    private let descriptor: Int32
    /// For messages.
    private let name: String
    private var bytes: [UInt8] = []

    init(_ descriptor: Int32 = STDOUT_FILENO, name: String = "standard output") {
        self.descriptor = descriptor
        self.name = name
    }

    mutating func add(_ more: [UInt8]) throws(StoreError) {
        bytes += more
        if bytes.count >= Self.pieceBytes { try flush() }
    }

    /// Writes what has gathered.
    mutating func flush() throws(StoreError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure }
            rest = rest.dropFirst(count)
        }
        bytes.removeAll(keepingCapacity: true)
    }

    /// Makes a file durable.
    func sync() throws(StoreError) {
        guard fsync(descriptor) == 0 else { throw failure }
    }

    private var failure: StoreError { .unavailable(detail: "\(name): \(systemErrorText())") }
}
