// SPDX-License-Identifier: Apache-2.0
import Dispatch

import class System.Lock

/// Does it so many times at once, each on a thread of its own, and waits for all.
/// - Returns: the outcomes in the order of the numbers.
func inParallel<Outcome: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> Outcome) -> [Outcome] {
    let outcomes = Lock<[Int: Outcome]>([:])
    let group = DispatchGroup()
    for number in 0..<count {
        // A queue of its own is a thread of its own, however few processors there are.
        DispatchQueue(label: "\(number)").async(group: group) {
            let outcome = body(number)
            outcomes.withLock { $0[number] = outcome }
        }
    }
    group.wait()
    return outcomes.withLock { outcomes in (0..<count).compactMap { outcomes[$0] } }
}
