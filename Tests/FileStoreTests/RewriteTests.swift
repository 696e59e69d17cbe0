// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FileStore
import Foundation
import Store
import Synchronization
import Testing
import Text

import class System.Lock

/// One process sweeps, and a person appends lines by hand, while two others write, each with a store of its own, which
/// stands for a process. Files are so small that they are split all the time.
@Suite struct RewriteTests {
    /// Sweeps through all tables.
    private static let rounds = 3
    /// Of a writer, which must not fill the disk where the sweeper has failed.
    private static let maximumSteps = 20_000
    /// So few that a rewriting of their files mostly waits for a lock, after having looked.
    private static let owners = 2
    /// Of a writer that has the lock, before it writes, in microseconds.
    private static let pause: UInt32 = 100

    private final class Progress: Sendable {
        let rounds = Atomic(0)
        let failures = Lock<[String]>([])
    }

    /// What was acknowledged to one writer.
    private struct Acknowledged {
        var notes: [SecureNotification] = []
        var devices: [String: DeviceRecord] = [:]
    }

    private let folder: TemporaryFolder
    private let progress = Progress()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open() throws -> FileSiteStore {
        try folder.open {
            ($0.bucketBytes, $0.quotas.devicesPerOwner) = (2_000, .max)
            ($0.quotas.notificationsPerOwner, $0.quotas.notificationBytesPerOwner) = (.max, .max)
            // Who is refused because others were faster would be a failure.
            $0.lockTimeout = .seconds(60)
            // No test here cuts the power, so nothing need be flushed.
            $0.calls = DiskCalls(write: Self.writeLate, flushFile: { _ in 0 }, flushFolder: { _ in 0 })
        }
    }

    @Test func `nothing acknowledged is lost while all is swept and lines are appended by hand`() throws {
        let sweeper = try open()
        let writers = try ["w0", "w1"].map { (name: $0, store: try open()) }
        let acknowledged = Lock<[Acknowledged]>([])
        let group = DispatchGroup()
        for writer in writers {
            start(in: group) {
                let written = try write(writer.store, name: writer.name)
                acknowledged.withLock { $0.append(written) }
            }
        }
        start(in: group) {
            for _ in 0..<Self.rounds {
                try tidy(sweeper)
                progress.rounds.add(1, ordering: .releasing)
            }
        }
        group.wait()
        #expect(progress.failures.withLock(\.self) == [])
        #expect(progress.rounds.load(ordering: .acquiring) == Self.rounds)
        for written in acknowledged.withLock(\.self) { try check(written) }
    }

    /// A queue of its own is a thread of its own, however few processors there are.
    private func start(in group: DispatchGroup, _ body: @escaping @Sendable () throws -> Void) {
        let progress = progress
        DispatchQueue(label: "rewrite").async(group: group) {
            do { try body() } catch { progress.failures.withLock { $0.append("\(error)") } }
        }
    }

    /// Goes on until the sweeper is through.
    private func write(_ store: FileSiteStore, name: String) throws -> Acknowledged {
        var written = Acknowledged()
        for step in 0..<Self.maximumSteps where progress.rounds.load(ordering: .acquiring) < Self.rounds {
            let owner = "owner-\(step % Self.owners)"
            var note = try store.createNotification(
                owner: owner, payload: "\(name) \(step)", now: noon, expiresAt: nextDay)
            if step % 2 == 0 {
                _ = try store.readNotification(note.id, owner: owner, now: noon)
                note.isRead = true
            }
            written.notes.append(note)
            let id = "\(name)-\(step % 20)"
            let old = written.devices[id]
            written.devices[id] = try store.putDevice(
                DeviceRecord(id: id, owner: owner, updatedAt: noon, version: old?.version ?? 0))
            // It is over before the next sweep.
            _ = try store.createNotification(owner: owner, payload: "over", now: noon + -2, expiresAt: noon + -1)
        }
        return written
    }

    private func tidy(_ store: FileSiteStore) throws {
        while try !store.sweep(budget: 10, now: noon).finishedRound { try addLineByHand() }
    }

    @Sendable private static func writeLate(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        usleep(pause)
        return Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }

    /// As `echo '…' >> file` does. It may land in a file that was just replaced, and is lost then: it was not promised.
    private func addLineByHand() throws {
        for file in try folder.files(under: "notifications") {
            let descriptor = Glibc.open(folder.path + "/" + file, O_WRONLY | O_APPEND | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            let line = #"{"id":7,"op":"note","owner":"by hand"}"# + "\n"
            _ = Glibc.write(descriptor, line, line.utf8.count)
        }
    }

    private func check(_ written: Acknowledged) throws {
        let store = try open()
        for note in written.notes {
            #expect(try store.notification(note.id, owner: note.owner, now: noon) == note)
        }
        for device in written.devices.values {
            #expect(try store.device(device.id) == device)
            #expect(try store.devices(owner: device.owner).contains(device))
        }
        #expect(try store.verify(now: noon).missingIndexLines == [:])
    }
}
