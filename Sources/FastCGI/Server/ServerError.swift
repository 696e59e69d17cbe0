// SPDX-License-Identifier: Apache-2.0

/// Why a server cannot start; the operator's affair.
package enum ServerError: Error, Equatable, Sendable {
    /// A limit of that name is below its minimum or above its maximum.
    case badLimit(String)
    /// The system refused a descriptor (epoll, eventfd); the text names the call.
    case noDescriptor(String)
    /// The system refused a thread.
    case noThread(String)
}

extension ServerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .badLimit(let name): "the limit \(name) is too low or too high"
        case .noDescriptor(let text): "the system refused a descriptor: \(text)"
        case .noThread(let text): "the system refused a thread: \(text)"
        }
    }
}
