// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// One POSIX thread with a small stack; nobody waits for its end.
package enum PlatformThread {
    /// Bytes of stack of one thread: addresses only, until they are touched.
    static let stackBytes = 512 * 1024

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread.
    /// - Throws: `ServerError.noThread`, when the system has no more (pthread_create).
    package static func start(_ run: @escaping @Sendable () -> Void) throws(ServerError) {
        let body = Unmanaged.passRetained(Body(run))
        let result = platform_start_thread(
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, body.toOpaque(), stackBytes)
        guard result == 0 else {
            body.release()
            throw .noThread(systemErrorText(result))
        }
    }
}
