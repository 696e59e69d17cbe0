// SPDX-License-Identifier: Apache-2.0

/// Asks several at the same time.
package enum Together {
    /// Returns when all have answered, or that long after the last was asked, whichever is first.
    /// - Parameter ask: asks one of them, which answers once: on any thread, possibly before this returns, or too late.
    /// - Returns: the answers in the order of those who were asked; nil: none in that time.
    package static func ask<Asked, Answer: Sendable>(
        _ asked: [Asked], waiting patience: Duration,
        _ ask: (Asked, @escaping @Sendable (Answer) -> Void) -> Void
    ) -> [Answer?] {
        let answers = Lock([Answer?](repeating: nil, count: asked.count))
        let answered = Semaphore()
        for (index, one) in asked.enumerated() {
            ask(one) { answer in
                answers.withLock { $0[index] = answer }
                answered.signal()
            }
        }
        let deadline = Deadline.after(patience)
        for _ in asked where !answered.wait(until: deadline) { break }
        return answers.withLock(\.self)
    }
}
