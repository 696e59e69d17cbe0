// SPDX-License-Identifier: Apache-2.0
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
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackBytes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
        guard result == 0 else {
            body.release()
            throw .noThread(systemErrorText(result))
        }
    }
}
