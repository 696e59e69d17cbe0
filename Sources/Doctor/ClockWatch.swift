// SPDX-License-Identifier: Apache-2.0
package import HTTP
import System

/// Lets questions through and notes how far the clock of whoever answers is from ours.
package final class ClockWatch: Responder {
    private let host: String
    private let inner: any Responder
    private let now: @Sendable () -> Int64
    private let noted = Lock<ClockStep.Difference?>(nil)

    /// - Parameter now: seconds since 1970.
    package init(host: String, inner: any Responder, now: @escaping @Sendable () -> Int64) {
        self.host = host
        self.inner = inner
        self.now = now
    }

    /// By the last answer that said when it was made; nil: none did.
    package var difference: ClockStep.Difference? { noted.withLock(\.self) }

    package func respond(to request: Request) throws -> Response {
        let before = now()
        let response = try inner.respond(to: request)
        if let difference = ClockStep.Difference(host: host, response, before: before, after: now()) {
            noted.withLock { $0 = difference }
        }
        return response
    }
}
