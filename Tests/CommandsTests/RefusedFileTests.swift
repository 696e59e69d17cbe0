// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import Commands

/// What is said of a file that the system does not let a command write.
struct RefusedFileTests {
    @Test func `in a container the variables are named that say the same`() {
        errno = EROFS
        let text = ConfigurationDraft.failure("/etc/app-backend/app-backend.json").description
        #expect(text.hasPrefix("/etc/app-backend/app-backend.json cannot be written: "))
        for variable in ["WEB_PUSH_SUBJECT=mailto:", "ROLES_NAME=administrator", "ROLES_ADMINISTER=true"] {
            #expect(text.contains("APP_BACKEND_\(variable)"))
        }
    }
}
