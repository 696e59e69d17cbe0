// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store

/// Writes into a store until it is killed, and prints a line `<owner> <id>` for each notification that was
/// acknowledged: the oracle of the `kill -9` test. The payload is the owner's name, many times over, so that a torn
/// or mixed record cannot pass for a whole one. Every write is made in two halves, so that kills land inside lines.
///
///     store-oracle <folder> <bytes per bucket>
@main struct StoreOracle {
    /// Owners per writer; all writers use the same ones, so that they meet in the same buckets.
    static let owners = 12
    /// Nobody should have to stop a writer whose test has died.
    static let maximumRecords = 20_000
    /// Between the two halves of a write, in microseconds.
    static let pause: UInt32 = 200

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let bucketBytes = Int(arguments[2]) else { exit(64) }
        var options = FileStore.Options()
        options.bucketBytes = bucketBytes
        options.notificationsPerOwner = .max
        options.notificationBytesPerOwner = .max
        options.calls = DiskCalls(write: writeHalf)
        let store = try FileStore.open(path: arguments[1], options: options)
        let now = Timestamp(seconds: 1_800_000_000)
        for index in 0..<maximumRecords {
            let owner = "owner-\(index % owners)"
            let payload = String(repeating: owner + " ", count: 1 + index % 20)
            let made = try store.createNotification(owner: owner, payload: payload, now: now, expiresAt: now + 60)
            let line = "\(owner) \(made.id)\n"
            // In one write, so that a kill leaves the whole line or none of it.
            guard write(STDOUT_FILENO, line, line.utf8.count) == line.utf8.count else { exit(74) }
        }
    }

    private static func writeHalf(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count > 64 else { return write(descriptor, bytes.baseAddress, bytes.count) }
        let written = write(descriptor, bytes.baseAddress, bytes.count / 2)
        usleep(pause)
        return written
    }
}
