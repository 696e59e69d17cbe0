// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Push

import class System.Lock

/// Keeps requests until the test answers them.
final class ScriptedSender: RequestSender {
    typealias Completion = @Sendable (Result<Response, any Error>) -> Void

    private let open = Lock<[(Request, Completion)]>([])
    private let seen = Lock<[Request]>([])

    var requests: [Request] { seen.withLock(\.self) }
    /// What was sent as `Authorization`, in the order of the requests.
    var authorizations: [String?] { requests.map { $0.fields[.authorization] } }

    func send(_ request: Request, _ completion: @escaping Completion) {
        seen.withLock { $0.append(request) }
        open.withLock { $0.append((request, completion)) }
    }

    /// Answers the first request that has no answer yet; false when there is none.
    @discardableResult func answer(_ result: Result<Response, any Error>) -> Bool {
        let first = open.withLock { $0.isEmpty ? nil : $0.removeFirst().1 }
        first?(result)
        return first != nil
    }

    @discardableResult func answer(_ status: Int, _ body: String = "{}") -> Bool {
        answer(.success(Response(status: .init(code: status), body: Array(body.utf8))))
    }
}

/// A transport's failure.
struct Unreachable: TransportFailure {
    var isPermanent = false
    var fault: ConnectionFault?
    var isTransient: Bool { !isPermanent }
    var isUnsent: Bool { true }
}
