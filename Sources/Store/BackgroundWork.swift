// SPDX-License-Identifier: Apache-2.0
import CPlatform

/// A thread for one piece of work. Not one of libdispatch's: those want to set their priority, and complain on standard
/// error where a hardened unit does not let them.
enum BackgroundWork {
    private static let stackBytes = 512 << 10

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// - Returns: false when there can be no further thread; then nothing was begun.
    static func begin(_ run: @escaping @Sendable () -> Void) -> Bool {
        let body = Unmanaged.passRetained(Body(run))
        let result = platform_start_thread(
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, body.toOpaque(), stackBytes)
        if result != 0 { body.release() }
        return result == 0
    }
}
