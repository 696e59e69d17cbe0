// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import Testing

import class System.Semaphore

@Suite final class `A watch over folders` {
    private let folder: String

    init() throws {
        var template = Array("/tmp/watch-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for name in ["old", "new"] { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    private func append(to name: String) {
        let file = fopen("\(folder)/\(name)", "a")
        _ = file.map { fputs("line\n", $0) }
        _ = file.map { fclose($0) }
    }

    @Test(arguments: ["appended to", "made", "renamed"])
    func `tells of a file that is`(change: String) throws {
        if change != "made" { append(to: "old") }
        let changes = Semaphore()
        let watch = FolderWatch([folder], pause: .zero) { changes.signal() }
        try #require(watch != nil)
        if change == "renamed" {
            #expect(rename("\(folder)/old", "\(folder)/new") == 0)
        } else {
            append(to: "old")
        }
        #expect(changes.wait(for: .seconds(120)))
        withExtendedLifetime(watch) {}
    }

    @Test func `is not to be had where there is no folder`() {
        #expect(FolderWatch([folder, folder + "/none"], pause: .zero) {} == nil)
    }

    @Test func `ends with its last reference`() {
        final class Ends: Sendable {
            let semaphore: Semaphore
            init(_ semaphore: Semaphore) { self.semaphore = semaphore }
            deinit { semaphore.signal() }
        }
        let ended = Semaphore()
        do {
            let ends = Ends(ended)
            _ = FolderWatch([folder], pause: .zero) { withExtendedLifetime(ends) {} }
        }
        #expect(ended.wait(for: .seconds(120)))
    }
}
