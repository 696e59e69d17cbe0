// SPDX-License-Identifier: Apache-2.0

/// Why a server cannot start; the operator's affair.
package enum ServerError: Error, Equatable, Sendable {
    /// A limit of that name is below its minimum or above what a pipe holds.
    case badLimit(String)
    /// The system refused a descriptor (epoll, eventfd, pipe); the text names the call.
    case noDescriptor(String)
    /// The system refused a thread.
    case noThread(String)
}
