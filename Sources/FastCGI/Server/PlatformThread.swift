// SPDX-License-Identifier: Apache-2.0
import System

/// A detached thread, in the words of this room's errors.
package enum PlatformThread {
    /// Starts it.
    /// - Throws: `ServerError.noThread`, when the system has no more.
    package static func start(_ run: @escaping @Sendable () -> Void) throws(ServerError) {
        let result = DetachedThread.start(run)
        guard result == 0 else { throw .noThread(numberedErrorText(result)) }
    }
}
