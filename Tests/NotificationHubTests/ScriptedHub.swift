// SPDX-License-Identifier: Apache-2.0
import HTTP

import class System.Lock

/// A hub that answers what it was told to, in order, and remembers what it was asked.
final class ScriptedHub: Responder {
    struct NoConnection: Error {}

    private let failure: any Error
    private let state: Lock<(answers: [Response?], requests: [Request])>

    /// - Parameter answers: nil: the connection fails.
    init(_ answers: [Response?], failure: any Error = NoConnection()) {
        self.failure = failure
        state = Lock((answers, []))
    }

    var requests: [Request] { state.withLock { $0.requests } }

    func respond(to request: Request) throws -> Response {
        let answer = state.withLock { state -> Response? in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { throw failure }
        return answer
    }
}

/// Seconds since 1970 that go on by a step with every look.
final class Clock: Sendable {
    private let time: Lock<Int64>
    private let step: Int64

    init(_ time: Int64, step: Int64 = 0) {
        self.time = Lock(time)
        self.step = step
    }

    func now() -> Int64 {
        time.withLock { time in
            defer { time += step }
            return time
        }
    }

    func advance(by seconds: Int64) { time.withLock { $0 += seconds } }
}
