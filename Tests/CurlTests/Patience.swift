// SPDX-License-Identifier: Apache-2.0
import Curl
import Testing

/// How long tests wait for what must come: longer than a busy machine stands still, and never without end.
enum Patience {
    static let seconds = 300
    static let duration = Duration.seconds(seconds)

    /// For a test of a call whose time runs out after something else has happened. On a machine that stands still in
    /// between the time is over first, which proves nothing; then it is tried again with four times as much.
    /// - Parameter attempt: whether everything came in its order.
    static func withMoreTime(_ attempt: (Duration) throws -> Bool) rethrows {
        for milliseconds in [250, 1_000, 4_000, 16_000, 64_000] {
            if try attempt(.milliseconds(milliseconds)) { return }
        }
        Issue.record("not in order, however much time there was")
    }
}

extension CurlOptions {
    /// Those of a test in which no time is meant to run out.
    static func patient(
        proxy: String? = nil, addresses: AddressPolicy = .any, connections: Int = 4, maximumQueued: Int = 1024
    ) -> CurlOptions {
        CurlOptions(
            timeout: Patience.duration, connectTimeout: Patience.duration, proxy: proxy, addresses: addresses,
            maximumConnectionsPerHost: connections, maximumQueued: maximumQueued, allowPlainHTTP: true)
    }
}
