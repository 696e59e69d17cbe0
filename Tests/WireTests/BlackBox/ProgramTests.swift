// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

extension WireTests {
    /// What tests that run side by side must not do to each other.
    struct ProgramTests {
        @Test func `a program holds nothing of what another test has open`() throws {
            // Without FD_CLOEXEC, as accept(2) and pipe(2) make them. A high number, which no program opens itself.
            let number = fcntl(STDERR_FILENO, F_DUPFD, 500)
            try #require(number >= 500)
            defer { close(number) }
            func has(_ number: Int32) throws -> Bool {
                try Program.run("/usr/bin/test", ["-e", "/proc/self/fd/\(number)"]).status == 0
            }
            #expect(try has(STDERR_FILENO))
            #expect(try !has(number))
        }
    }
}
