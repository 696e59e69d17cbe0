// SPDX-License-Identifier: Apache-2.0
import FileStore
import Glibc
import Store
import Synchronization
import Text

/// `store-oracle freeze FOLDER OWNER`: a process that stops in the middle of a line for that owner, with the lock of its
/// bucket held, and goes on when it gets SIGCONT.
struct FreezeCommand {
    private let folder: String
    private let owner: String

    init(_ arguments: Arguments) throws(WrongArguments) {
        folder = try arguments.word(0, "folder")
        owner = try arguments.word(1, "owner")
    }

    func run() throws {
        let isReady = Atomic(false)
        try withExtendedLifetime(isReady) {
            var options = FileSiteStore.Options.unlimited
            options.calls.write = { descriptor, bytes in
                guard isReady.exchange(false, ordering: .relaxed) else {
                    return write(descriptor, bytes.baseAddress, bytes.count)
                }
                let written = write(descriptor, bytes.baseAddress, bytes.count / 2)
                raise(SIGSTOP)
                return written
            }
            let store = try FileSiteStore.open(path: folder, options: options)
            isReady.store(true, ordering: .relaxed)
            let now = Writer.fixedTime
            let made = try store.createNotification(
                owner: owner, sender: "", payload: "thawed", now: now, expiresAt: now + 60)
            print(made.id)
        }
    }
}
