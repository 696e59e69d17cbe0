// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes

import class System.Lock

/// Answers each request at once, with what the test has put down for it.
final class ScriptedSender: RequestSender {
    private let seen = Lock<[Request]>([])
    private let answers: Lock<[(Int, String)]>

    init(_ answers: (Int, String)...) {
        self.answers = Lock(answers)
    }

    var requests: [Request] { seen.withLock(\.self) }

    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        seen.withLock { $0.append(request) }
        let (status, body) = answers.withLock { $0.isEmpty ? (500, "no answer was put down") : $0.removeFirst() }
        completion(.success(Response(status: .init(code: status), body: Array(body.utf8))))
    }
}
