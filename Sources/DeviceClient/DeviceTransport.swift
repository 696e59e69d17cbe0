// SPDX-License-Identifier: Apache-2.0
public import HTTP

/// Carries a request to the backend and its answer back. Every status is an answer; only what prevents one is thrown.
public protocol DeviceTransport: Sendable {
    /// - Throws: `DeviceTransportError` when no answer came, `CancellationError` when the task was cancelled. Any other
    ///   error is reported by the name of its type alone, because its text may hold the URL and with it a handle.
    func send(_ request: Request) async throws -> Response
}

/// Why no answer came.
public struct DeviceTransportError: Error, Equatable, Sendable {
    /// In words, for a log: never a URL, a header field or a body.
    public let reason: String

    /// - Parameter reason: words without a URL, a header field or a body.
    public init(reason: String) {
        self.reason = reason
    }
}
