// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the system says to an error number, else to that of the call that has just failed: `Permission denied`.
package func systemErrorText(_ code: Int32 = errno) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
}

/// The same for a log, with the number: `Permission denied (13)`.
package func numberedErrorText(_ code: Int32 = errno) -> String { "\(systemErrorText(code)) (\(code))" }
