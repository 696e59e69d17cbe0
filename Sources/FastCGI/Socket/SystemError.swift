// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The error number of the last failed call, as text for a log: `Permission denied (13)`.
func systemErrorText(_ code: Int32 = errno) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    return "\(String(cString: text)) (\(code))"
}

/// Milliseconds of a clock that never jumps (CLOCK_MONOTONIC).
func monotonicMilliseconds() -> Int64 {
    Deadline.now.nanoseconds / 1_000_000
}
