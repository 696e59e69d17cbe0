// SPDX-License-Identifier: Apache-2.0

// Of the server, which runs on Linux: apps run on systems without this clock.
#if os(Linux)
    /// What ends by itself, at a deadline at the latest, and leaves no trace in those who wait for it.
    package protocol Awaited: Sendable {
        var hasEnded: Bool { get }

        /// - Parameter resume: called once, when it has ended; possibly before this returns.
        func onEnd(_ resume: @escaping @Sendable () -> Void)

        /// Returns when it has ended, or at its deadline.
        func wait()
    }

    /// The rest of a request that has acted and waits for what comes of that, without holding a thread. It is not made again:
    /// the server asks for `answer()` when what it waits for has ended.
    ///
    /// A responder returns it in a response, for a request that can be put off. What surrounds that responder adds what it has
    /// to do with the answer by `after`.
    package final class Continuation: Postponement {
        package let began: ContinuousClock.Instant
        package let source: String
        private let awaited: any Awaited
        private let finish: @Sendable () throws -> Response

        /// - Parameter finish: makes the answer; called once, when `awaited` has ended or its deadline has passed.
        package convenience init(
            after awaited: any Awaited, source: String, finish: @escaping @Sendable () throws -> Response
        ) {
            self.init(awaited, source, began: .now, finish)
        }

        private init(
            _ awaited: any Awaited, _ source: String, began: ContinuousClock.Instant,
            _ finish: @escaping @Sendable () throws -> Response
        ) {
            (self.awaited, self.source, self.began, self.finish) = (awaited, source, began, finish)
        }

        package func onEnd(_ resume: @escaping @Sendable () -> Void) { awaited.onEnd(resume) }

        /// To be called once. Where what it waits for has not ended, the caller's thread waits for that.
        /// - Throws: what the responder would have thrown.
        package func answer() throws -> Response {
            if !awaited.hasEnded { awaited.wait() }
            return try finish()
        }

        /// The same, whose answer is what `next` makes of what this one brings.
        package func then(_ next: @escaping @Sendable (Result<Response, any Error>) throws -> Response) -> Continuation
        {
            Continuation(awaited, source, began: began) { [finish] in try next(Result { try finish() }) }
        }

        /// Hands what comes of a request to `finish` when it is there: at once, or when the request is continued.
        /// - Throws: what `finish` throws.
        package static func after(
            _ respond: () throws -> Response,
            _ finish: @escaping @Sendable (Result<Response, any Error>) throws -> Response
        ) throws -> Response {
            let outcome = Result { try respond() }
            guard case .success(var response) = outcome, let continuation = response.continuation else {
                return try finish(outcome)
            }
            response.postponement = continuation.then(finish)
            return response
        }
    }

    extension Response {
        /// What brings the answer later; nil where it is there, and where the request is to be made again.
        package var continuation: Continuation? {
            postponement as? Continuation
        }

        /// There is no answer yet.
        package init(continuation: Continuation) {
            self.init()
            postponement = continuation
        }
    }
#endif
