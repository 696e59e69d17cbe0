// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FileStore
import Glibc
import Store

/// `store-oracle write`: does to a store whatever can be done, on several threads, until it is killed.
///
///     --name NAME                  begins all keys, which no other writer may have
///     --threads N                  3 when not given
///     --bucket-bytes N             when a file is compacted or split; so few that this never stops
///     --owners N                   12; all writers share them, so that they meet in the same files
///     --seconds N                  900; a writer whose test has died ends by itself
///     --torn-pause N               microseconds between the two halves of every write, so that kills land inside lines
///     --gate FIFO                  opens the store when another process opens that pipe for writing
///     --tolerant                   goes on when it is refused something: a full disk, a lock, a read-only mount
///     --unreliable                 goes on when the outcome of a call is unknown: a database that is not there
///     --wall-clock                 the time is this machine's, not always the same
///     --without-file-flushes, --without-folder-flushes     for controls that must fail, and where the power stays on
struct WriteCommand {
    private let arguments: Arguments
    private let folder: String
    private let name: String
    private let threads: Int

    init(_ arguments: Arguments) throws(WrongArguments) {
        self.arguments = arguments
        folder = try arguments.word(0, "folder")
        guard let name = arguments.text("name") else { throw WrongArguments(reason: "--name is missing") }
        self.name = name
        threads = try arguments.number("threads", or: 3)
    }

    func run() throws {
        alarm(UInt32(clamping: try arguments.number("seconds", or: 900)))
        let journal = Journal()
        if let gate = arguments.text("gate") {
            journal.note(.remark, "waiting")
            guard open(gate, O_RDONLY) >= 0 else { throw WrongArguments(reason: "--gate cannot be opened") }
        }
        let store = try Place(folder).open(try options())
        journal.note(.remark, "open")
        let plan = Writer.Plan(
            owners: max(1, try arguments.number("owners", or: 12)), isTolerant: arguments.has("tolerant"),
            isUnreliable: arguments.has("unreliable"), keepsTime: arguments.has("wall-clock"))
        let group = DispatchGroup()
        for thread in 0..<threads {
            // A queue of its own is a thread of its own, however few processors there are.
            DispatchQueue(label: "\(thread)").async(group: group) {
                Self.run(Writer(store: store, journal: journal, name: "\(name)-\(thread)", plan: plan))
            }
        }
        group.wait()
    }

    private static func run(_ writer: Writer) {
        do throws(StoreError) {
            for index in 0..<Int.max {
                try writer.step(index)
                if index == 0 { writer.journal.note(.remark, "begun") }
            }
        } catch {
            StoreOracle.complain("\(error)")
            exit(74)
        }
    }

    private func options() throws(WrongArguments) -> FileSiteStore.Options {
        var options = FileSiteStore.Options.unlimited
        // A writer that goes on when it is refused a lock is refused it as soon as a service would be.
        if arguments.has("tolerant") { options.lockTimeout = FileSiteStore.Options().lockTimeout }
        options.bucketBytes = try arguments.number("bucket-bytes", or: options.bucketBytes)
        let pause = UInt32(clamping: try arguments.number("torn-pause", or: 0))
        if pause > 0 { options.calls.write = { Self.writeHalf($0, $1, pause) } }
        if arguments.has("without-file-flushes") { options.calls.flushFile = { _ in 0 } }
        if arguments.has("without-folder-flushes") { options.calls.flushFolder = { _ in 0 } }
        return options
    }

    private static func writeHalf(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ pause: UInt32) -> Int {
        guard bytes.count > 64 else { return write(descriptor, bytes.baseAddress, bytes.count) }
        let written = write(descriptor, bytes.baseAddress, bytes.count / 2)
        usleep(pause)
        return written
    }
}
