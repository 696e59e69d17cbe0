// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Store

/// Writes into a store until it is killed, and prints a line `<owner> <id>` for each notification that was
/// acknowledged: the oracle of the `kill -9` test. The payload is the owner's name, many times over, so that a torn
/// or mixed record cannot pass for a whole one. Every write is made in two halves, so that kills land inside lines.
///
///     store-oracle <folder> <bytes per bucket>
///
/// With a name it does to the store whatever can be done, on several threads, with ids that begin with the name, and
/// prints a line when each of them has come through everything once.
///
///     store-oracle <folder> <bytes per bucket> <name>
@main struct StoreOracle {
    /// Owners per writer; all writers use the same ones, so that they meet in the same buckets.
    static let owners = 12
    /// Nobody should have to stop a writer whose test has died.
    static let maximumRecords = 20_000
    /// Between the two halves of a write, in microseconds.
    static let pause: UInt32 = 200

    static func main() throws {
        let arguments = CommandLine.arguments
        guard (3...4).contains(arguments.count), let bucketBytes = Int(arguments[2]) else { exit(64) }
        var options = FileStore.Options()
        options.bucketBytes = bucketBytes
        options.notificationsPerOwner = .max
        options.notificationBytesPerOwner = .max
        options.calls = DiskCalls(write: writeHalf)
        if arguments.count == 4 { return try churn(arguments[1], options, name: arguments[3]) }
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

    /// Threads that write at once.
    private static let threads = 3
    /// Whoever started it may have died, in seconds.
    private static let lifetime: UInt32 = 60

    private static func churn(_ folder: String, _ options: FileStore.Options, name: String) throws {
        var options = options
        options.devicesPerOwner = .max
        options.sessionsPerOwner = .max
        // Nobody pulls the plug here, and without flushes far more happens at once.
        options.calls.flushFile = { _ in 0 }
        options.calls.flushFolder = { _ in 0 }
        alarm(lifetime)
        let store = try FileStore.open(path: folder, options: options)
        let group = DispatchGroup()
        for thread in 0..<threads {
            // A queue of its own is a thread of its own, however few processors there are.
            DispatchQueue(label: "\(thread)").async(group: group) {
                churn(Churn(store: store, name: "\(name)-\(thread)"))
            }
        }
        group.wait()
    }

    private static func churn(_ churn: Churn) {
        do throws(StoreError) {
            for index in 0..<Churn.maximumSteps {
                try churn.step(index)
                if index == 0, write(STDOUT_FILENO, "\n", 1) != 1 { exit(74) }
            }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    private static func writeHalf(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count > 64 else { return write(descriptor, bytes.baseAddress, bytes.count) }
        let written = write(descriptor, bytes.baseAddress, bytes.count / 2)
        usleep(pause)
        return written
    }
}
