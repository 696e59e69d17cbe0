// SPDX-License-Identifier: Apache-2.0
import FileStore
import Glibc
import JSON
import Store
import Text

/// `store-oracle verify`: compares a store with what its writers told, prints one JSON object, and writes on.
///
///     LOG                  what a writer printed; LOG@BYTES: only what lies before that offset was promised in time
///     --after-power-cut    what is promised for a kill alone is no promise
///     --reindex            adds what indexes lack before it looks
///     --bucket-bytes N     as the writers'
struct VerifyCommand {
    private let folder: String
    private var options = FileSiteStore.Options.unlimited
    private let ledger: Ledger
    private let reindexes: Bool

    init(_ arguments: Arguments) throws {
        folder = try arguments.word(0, "folder")
        options.bucketBytes = try arguments.number("bucket-bytes", or: options.bucketBytes)
        var ledger = Ledger(afterPowerCut: arguments.has("after-power-cut"))
        for word in arguments.words.dropFirst() {
            let parts = word.split(separator: "@", maxSplits: 1).map(String.init)
            guard let path = parts.first else { throw WrongArguments(reason: "an empty name of a log") }
            let binding = parts.count > 1 ? Int(parts[1]) : nil
            guard parts.count == 1 || binding != nil else { throw WrongArguments(reason: "no offset in \(word)") }
            try ledger.read(Self.bytes(of: path), binding: binding)
        }
        self.ledger = ledger
        reindexes = arguments.has("reindex")
    }

    func run() throws {
        let store = try Place(folder).open(options)
        let files = store as? FileSiteStore
        if reindexes { try files?.reindex(now: Writer.fixedTime) }
        let report = try files?.verify(now: Writer.fixedTime)
        var comparison = Comparison(store: store, ledger: ledger)
        try comparison.run()
        if let report { comparison.judge(report) }
        try comparison.writeOn()
        print(comparison.verdict.text)
        if !comparison.verdict.isGood { exit(1) }
    }

    private static func bytes(of path: String) throws(WrongArguments) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard file >= 0, fstat(file, &status) == 0 else { throw WrongArguments(reason: "\(path) cannot be read") }
        defer { close(file) }
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
            while count < buffer.count, let start = buffer.baseAddress {
                let got = read(file, start + count, buffer.count - count)
                if got < 0 { failed = true }
                if got <= 0 { return }
                count += got
            }
        }
        guard !failed else { throw WrongArguments(reason: "\(path) cannot be read") }
        return bytes
    }
}
