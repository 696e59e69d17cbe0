// SPDX-License-Identifier: Apache-2.0

// Of the server, which runs on Linux: apps run on systems without this clock.
#if os(Linux)
    /// What a request waits for without holding a thread. When it has ended the same request is made once more, unless it is a
    /// `Continuation`.
    package protocol Postponement: AnyObject, Sendable {
        /// When the request was made first.
        var began: ContinuousClock.Instant { get }
        /// Where the request comes from: the requests of one source may take a share of the room for those that wait.
        var source: String { get }

        /// - Parameter resume: called once, when the request is to go on; possibly before this returns.
        func onEnd(_ resume: @escaping @Sendable () -> Void)
    }

    /// Whether a request can be put off.
    package enum Postponing: Sendable {
        /// No: the thread that makes it waits for the answer.
        case unavailable
        /// A responder may throw `Postponed`, as long as nothing has been done yet: all of it is done again later. One that has
        /// done something returns a `Continuation`.
        case available
        /// The request is made once more, because this has ended. It may return a `Continuation`, too.
        case resumed(any Postponement)

        /// Whether an answer may come later.
        package var isPossible: Bool { if case .unavailable = self { false } else { true } }
    }

    /// Thrown by a responder that would have to wait, for a request that can be put off.
    package struct Postponed: Error {
        package let postponement: any Postponement

        package init(_ postponement: any Postponement) {
            self.postponement = postponement
        }
    }
#endif
