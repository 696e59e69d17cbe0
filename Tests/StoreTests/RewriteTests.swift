// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Store
import Synchronization
import Testing

/// An administrator compacts, seals and edits without end while two others write, each with a store of his own, which
/// stand for two processes. Files are so small that they are split all the time.
@Suite struct RewriteTests {
    private static let steps = 250
    private static let owners = 6

    /// What was acknowledged to one writer.
    private struct Acknowledged {
        var notes: [SecureNotification] = []
        var devices: [String: DeviceRecord] = [:]
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open() throws -> FileStore {
        try folder.open {
            ($0.bucketBytes, $0.devicesPerOwner) = (2_000, .max)
            // Nobody pulls the plug here, so nothing need be flushed.
            $0.calls = DiskCalls(flushFile: { _ in 0 }, flushFolder: { _ in 0 })
        }
    }

    @Test func `nothing acknowledged is lost while all is compacted, sealed and edited`() throws {
        let writers = [try open(), try open()]
        let administrator = try open()
        _ = try administrator.putUser(User(name: "edited", passwordHash: "0"))
        let acknowledged = Mutex([Acknowledged(), Acknowledged()])
        let failures = Mutex<[String]>([])
        let writing = Atomic(2)
        let rounds = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 3) { index in
            do {
                if index < 2 {
                    defer { writing.subtract(1, ordering: .releasing) }
                    let written = try write(writers[index], name: "w\(index)")
                    acknowledged.withLock { $0[index] = written }
                } else {
                    while writing.load(ordering: .acquiring) > 0 {
                        try tidy(administrator)
                        rounds.add(1, ordering: .relaxed)
                    }
                }
            } catch {
                failures.withLock { $0.append("\(index): \(error)") }
            }
        }
        #expect(failures.withLock(\.self) == [])
        #expect(rounds.load(ordering: .relaxed) > 0)
        for written in acknowledged.withLock(\.self) { try check(written) }
    }

    private func write(_ store: FileStore, name: String) throws -> Acknowledged {
        var written = Acknowledged()
        for step in 0..<Self.steps {
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
            // It will be over when the administrator compacts.
            _ = try store.createNotification(owner: owner, payload: "over", now: noon + -2, expiresAt: noon + -1)
        }
        return written
    }

    private func tidy(_ store: FileStore) throws {
        for table in store.allTables {
            _ = try store.compact(table, now: noon)
            try addLineByHand(to: table.name)
            _ = try store.seal(table)
        }
        let users = try #require(store.table("users"))
        let edit = try #require(try store.edit(users, key: "edited", now: noon))
        let text = String(decoding: edit.text, as: UTF8.self)
        let changed = text.replacing(#""passwordHash":""#, with: #""passwordHash":"1"#)
        try store.apply(edit.changes(in: Array(changed.utf8)).changes, of: edit)
    }

    /// As `echo '…' >> file` does. It may land in a file that was just replaced, and is lost then; nobody was promised it.
    private func addLineByHand(to table: String) throws {
        guard table == "devices" || table == "notifications", let file = try folder.files(under: table).randomElement()
        else { return }
        let descriptor = Glibc.open(folder.path + "/" + file, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let line = #"{"id":"by hand","op":"note","owner":"by hand"}"# + "\n"
        _ = Glibc.write(descriptor, line, line.utf8.count)
    }

    private func check(_ written: Acknowledged) throws {
        let store = try open()
        #expect(written.notes.count == Self.steps)
        for note in written.notes {
            #expect(try store.notification(note.id, owner: note.owner, now: noon) == note)
        }
        for device in written.devices.values {
            #expect(try store.device(device.id) == device)
            #expect(try store.devices(owner: device.owner).contains(device))
        }
        let edits = try #require(try store.user("edited"))
        #expect(edits.passwordHash.utf8.count == edits.version)
        #expect(try store.verify(now: noon).missingIndexLines == [:])
    }
}
