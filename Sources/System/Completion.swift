// SPDX-License-Identifier: Apache-2.0

/// Something that ends once, and what others want to have called then.
package final class Completion: Sendable {
    private struct State {
        var hasEnded = false
        var resumptions: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())

    package init() {}

    package var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// - Parameter resume: called once, when it has ended; before this returns where it has ended already.
    package func onEnd(_ resume: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.resumptions.append(resume) }
            return state.hasEnded
        }
        if hasEnded { resume() }
    }

    /// Calls what waits for it, on this thread.
    package func end() {
        let resumptions = state.withLock { state in
            defer { (state.hasEnded, state.resumptions) = (true, []) }
            return state.resumptions
        }
        for resume in resumptions { resume() }
    }

    /// Returns when it has ended, or at the deadline, whichever is first.
    package func wait(until deadline: Deadline) {
        let ended = Latch()
        onEnd { ended.open() }
        ended.wait(until: deadline)
    }
}
