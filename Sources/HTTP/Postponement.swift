// SPDX-License-Identifier: Apache-2.0

/// What a request waits for without holding a thread. When it has ended the same request is made once more.
package protocol Postponement: AnyObject, Sendable {
    /// When the request was made first.
    var began: ContinuousClock.Instant { get }

    /// - Parameter resume: called once, when the request is to be made again; possibly before this returns.
    func onEnd(_ resume: @escaping @Sendable () -> Void)
}

/// Whether a request can be put off.
package enum Postponing: Sendable {
    /// No: the thread that makes it waits for the answer.
    case unavailable
    /// A responder may throw `Postponed`, as long as nothing has been done yet: all of it is done again later.
    case available
    /// The request is made once more, because this has ended.
    case resumed(any Postponement)
}

/// Thrown by a responder that would have to wait, for a request that can be put off.
package struct Postponed: Error {
    package let postponement: any Postponement

    package init(_ postponement: any Postponement) {
        self.postponement = postponement
    }
}
