// SPDX-License-Identifier: Apache-2.0

/// The arrow for a caller with many requests under way and no thread to spare for each: the answer comes in a completion.
///
/// What has this shape is a `Responder` as well wherever a thread may sleep until its one answer is there.
public protocol RequestSender: Sendable {
    /// Returns at once.
    /// - Parameter completion: called exactly once, with the answer or with a `TransportFailure`; possibly before this
    ///   call returns, and on a thread that carries the other requests too: be quick.
    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void)
}
