// SPDX-License-Identifier: Apache-2.0
import System

/// The certificate that a transport's server showed at the last handshake.
final class LastCertificate: Sendable {
    private let last = Lock<ServerCertificate?>(nil)

    /// Seconds since 1970; nil as long as there was no handshake, or none whose time could be read.
    var expiry: Int64? { last.withLock { $0?.notAfter } }

    /// Looks at what a transfer has seen.
    func note(_ easy: UnsafeMutableRawPointer) {
        guard let certificate = ServerCertificate(of: easy) else { return }
        last.withLock { $0 = certificate }
    }
}
