// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes

import class System.Lock

/// Lets another request in at one moment of one call to the hub.
final class Interruption: Sendable {
    private let method: HTTPRequest.Method
    private let isBeforeHub: Bool
    private let action = Lock<(@Sendable () throws -> Void)?>(nil)

    /// - Parameter isBeforeHub: whether the hub hears of the call afterwards, or has heard of it already.
    init(_ method: HTTPRequest.Method, beforeHub isBeforeHub: Bool) {
        self.method = method
        self.isBeforeHub = isBeforeHub
    }

    /// The next call of the method is interrupted, and no other.
    func arm(_ action: @escaping @Sendable () throws -> Void) {
        self.action.withLock { $0 = action }
    }

    func surround(_ hub: any Responder) -> any Responder {
        ClosureResponder { [self] request in
            guard request.method == method, let action = take() else { return try hub.respond(to: request) }
            if isBeforeHub { try action() }
            let response = try hub.respond(to: request)
            if !isBeforeHub { try action() }
            return response
        }
    }

    private func take() -> (@Sendable () throws -> Void)? {
        action.withLock { action in
            defer { action = nil }
            return action
        }
    }
}
