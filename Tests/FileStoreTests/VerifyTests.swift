// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Testing

/// What `verify` finds in single lines.
@Suite struct VerifyTests {
    private func makeStore(salt: String? = nil) throws -> (folder: TemporaryFolder, store: FileSiteStore, file: String)
    {
        let folder = try TemporaryFolder()
        if let salt { try write(salt, to: folder) }
        let store = try folder.open()
        for _ in 0..<2 { _ = try store.createNotification(owner: "bob", payload: "p", now: noon, expiresAt: nextDay) }
        return (folder, store, try #require(try folder.files(under: "notifications").first))
    }

    private func write(_ salt: String, to folder: TemporaryFolder) throws {
        try folder.write(#"{"format":1,"salt":"\#(salt)"}"#, to: "store.json")
    }

    @Test func `a damaged line is named by its place and never by what it holds`() throws {
        let (folder, store, file) = try makeStore()
        var lines = try folder.text(file).split(separator: "\n").map(String.init)
        lines[1] = lines[1].replacingOccurrences(of: #""payload":"p""#, with: #""payload":p"#)
        try folder.write(lines.joined(separator: "\n") + "\n", to: file)
        let report = try store.verify(now: noon)
        #expect(!report.isWhole && report.faultyLines == 1)
        #expect(report.faults.map(\.file) == [file] && report.faults.map(\.line) == [2])
    }

    @Test func `a line that was edited counts, and one that was cut short was never promised`() throws {
        let (folder, store, file) = try makeStore()
        let text = try folder.text(file).replacingOccurrences(of: #""payload":"p""#, with: #""payload":"q""#)
        try folder.write(text + text.prefix(60) + "\n", to: file)
        let report = try store.verify(now: noon)
        #expect(report.isWhole && report.lines == 3 && report.editedLines == 2 && report.cutLines == 1)
    }

    @Test func `half a line that is being written is not seen`() throws {
        let (folder, store, file) = try makeStore()
        try folder.append(#"{"id":7,"owner""#, to: file)
        let report = try store.verify(now: noon)
        #expect(report.isWhole && report.lines == 2 && report.cutLines == 0)
    }

    /// What a loss of power leaves where the file had grown and its bytes had not come yet, and another program's file
    /// that was linked there.
    @Test(arguments: [false, true])
    func `zeros and other people's lines are no half lines`(endsInLineFeed: Bool) throws {
        for hurt in [String(repeating: "\0", count: 300), "root:x:0:0:root:/root:/bin/sh"] {
            let (folder, store, file) = try makeStore()
            try folder.write(endsInLineFeed ? hurt + "\n" : hurt, to: file)
            let report = try store.verify(now: noon)
            #expect(!report.isWhole && report.faultyLines == 1)
        }
    }

    @Test func `lines in a file where no call looks for them are found`() throws {
        // Not drawn: one salt in 256 has bob in the same file as the other one.
        let (folder, _, _) = try makeStore(salt: "00112233445566778899aabbccddeeff")
        // The store.json of another store: every name has another hash now.
        try write("ffeeddccbbaa99887766554433221100", to: folder)
        let report = try folder.open { $0.isReadOnly = true }.verify(now: noon)
        #expect(!report.isWhole && report.faultyLines == 2)
    }
}
