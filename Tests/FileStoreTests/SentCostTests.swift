// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Testing

/// To remember a send costs the same whatever its sender has sent before.
@Suite struct SentCostTests {
    /// Bytes that this thread has read so far, by any system call.
    private func bytesRead() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
        return try #require(Int(line.dropFirst("rchar: ".count)))
    }

    /// What that one write reads, without what the counting itself does.
    private func cost(_ body: () throws -> Void) throws -> Int {
        let counting = try -bytesRead() + bytesRead()
        let before = try bytesRead()
        try body()
        return try bytesRead() - before - counting
    }

    @Test func `the thousandth send of one sender reads no more than the first`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        func send(_ number: Int) throws {
            try store.rememberSent(
                (0..<4).map { "95b3a2e4ebad4a6792844af93a2e2a88-20261122094900-\(number)-\($0)" }, owner: "alice",
                now: noon, expiresAt: nextDay)
        }
        let first = try cost { try send(0) }
        for number in 1..<999 { try send(number) }
        let later = try cost { try send(999) }
        // The end of a file that has one, the beginning of a large one (64 bytes), and digits of what the kernel counts.
        #expect(later <= first + 100)
    }
}
