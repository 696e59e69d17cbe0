// SPDX-License-Identifier: Apache-2.0
import CPlatform

/// One POSIX thread with a small stack, detached: it is never joined.
///
/// Not one of libdispatch's: those want to set their priority, and complain on standard error where a hardened unit does
/// not let them.
package enum DetachedThread {
    /// Bytes of stack of one thread: addresses only, until they are touched.
    private static let stackBytes = 512 * 1024

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Begins it.
    /// - Returns: 0, or the number of the error with which the system has refused it (pthread_create(3)); then nothing was
    ///   begun.
    package static func start(_ run: @escaping @Sendable () -> Void) -> Int32 {
        let body = Unmanaged.passRetained(Body(run))
        let result = platform_start_thread(
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, body.toOpaque(), stackBytes)
        if result != 0 { body.release() }
        return result
    }
}
