// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Testing
import Text

import class System.Lock

/// A folder of its own for one test; removed with everything in it when the test is over.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/store-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// All files below, by their path relative to the folder.
    func files(under name: String = "") throws -> [String] {
        let found = FileManager.default.enumerator(atPath: path + "/" + name)?.compactMap { $0 as? String } ?? []
        return found.map { name.isEmpty ? $0 : name + "/" + $0 }.filter { $0.hasSuffix(".jsonl") }.sorted()
    }

    func text(_ name: String) throws -> String {
        try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }

    func append(_ text: String, to name: String) throws {
        let handle = try #require(FileHandle(forWritingAtPath: path + "/" + name))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    /// Another one with all that is in this one.
    func copy() throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy.path + "/" + name)
        }
        return copy
    }

    /// - Parameter adjust: has the last word; until then the options are `patient`.
    func open(_ adjust: (inout FileSiteStore.Options) -> Void = { _ in }) throws -> FileSiteStore {
        var options = FileSiteStore.Options.patient
        adjust(&options)
        return try FileSiteStore.open(path: path, options: options)
    }
}

extension FileSiteStore.Options {
    /// With deadlines that only what hangs comes to: on a busy machine any process may stand still for seconds, also
    /// while it has a lock that others wait for.
    static var patient: Self {
        var options = Self()
        (options.lockTimeout, options.firstOpeningTimeout) = (.seconds(120), .seconds(120))
        // Files are small in tests, and their indexes are to be tried anyway.
        options.indexedFileBytes = 0
        options.calls = .withoutFlushes
        return options
    }
}

extension DiskCalls {
    /// For tests that cut no power: a process that reads what another has written finds it unflushed, too.
    static var withoutFlushes: Self { Self(flushFile: { _ in 0 }, flushFolder: { _ in 0 }) }
}

/// Hears a store's events.
final class EventLog: Sendable {
    private let events = Lock<[StoreEvent]>([])

    var all: [StoreEvent] { events.withLock { $0 } }

    func append(_ event: StoreEvent) { events.withLock { $0.append(event) } }
}

let noon = Timestamp(seconds: 1_800_000_000)
let nextDay = noon + 86_400
