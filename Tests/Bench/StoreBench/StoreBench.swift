// SPDX-License-Identifier: Apache-2.0
import FileStore
import Glibc
import Store

/// What `script/bench store` drives: the file store, through the calls that the product makes. The programs in
/// Tests/Bench/store do the same to SQLite and to PostgreSQL, are called in the same way and answer in the same way.
///
///     store-bench fill FOLDER RECORDS OWNERS             makes the store again; writes some of its records, `<owner> <id>` a line
///     store-bench create FOLDER OWNERS THREADS SECONDS   creates records of random owners, each durably, after a second
///     store-bench read FOLDER                            reads the records that standard input names, up to an empty line
///     store-bench open FOLDER                            opens the store
///
/// `create`, `read` and `open` write the number of their calls and how long each of them took, in nanoseconds, as 64-bit
/// numbers in this machine's order, all ones for a call that has failed. `create` writes a line first when it is ready, and
/// begins when it is answered. Then they stay until standard input ends, so that their memory can be looked at.
@main struct StoreBench {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.dropFirst(2).compactMap { Int($0) }
        guard let mode = arguments.first, let folder = arguments.dropFirst().first else { exit(64) }
        switch (mode, numbers.count) {
        case ("fill", 2): try Filling(records: numbers[0], owners: max(1, numbers[1])).fill(folder)
        case ("create", 3):
            let creation = Creation(store: try FileSiteStore.open(path: folder), owners: max(1, numbers[0]))
            write(Array("ready\n".utf8))
            guard readLine() != nil else { exit(65) }
            answer(creation.run(threads: numbers[1], seconds: numbers[2]), from: creation.store)
        case ("read", 0):
            let store = try FileSiteStore.open(path: folder)
            answer(Reading(store: store).run(), from: store)
        case ("open", 0):
            let start = ContinuousClock.now
            let store = try FileSiteStore.open(path: folder)
            answer([start.duration(to: .now).inNanoseconds], from: store)
        default: exit(64)
        }
    }

    private static func answer(_ times: [UInt64], from store: FileSiteStore) {
        write([UInt64(times.count)] + times)
        while readLine() != nil {}
        withExtendedLifetime(store) {}
    }

    private static func write<Element: BitwiseCopyable>(_ elements: [Element]) {
        let isWhole = elements.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Glibc.write(STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard written > 0 else { return false }
                rest = rest.dropFirst(written)
            }
            return true
        }
        if !isWhole { exit(74) }
    }
}

extension Duration {
    var inNanoseconds: UInt64 {
        UInt64(clamping: components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000)
    }
}
