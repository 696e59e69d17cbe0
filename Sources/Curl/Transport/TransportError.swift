// SPDX-License-Identifier: Apache-2.0
import HTTP

/// Why a call brought no answer. The reasons are libcurl's own sentence for its code: never a URL, header or body.
package enum TransportError: Error, Equatable, Sendable {
    /// The deadline passed. The other side may have done what was asked.
    case timedOut
    /// The deadline passed while there was no connection to send on: the host does not answer, or every connection to it
    /// is busy. Nothing was sent. Only completions get it: a caller that waits leaves at the deadline, and cannot know.
    case noConnectionInTime
    /// No connection could be made: nothing was sent, so the call may be repeated. It is unresolved if the host's name has no
    /// address, or none could be found out.
    case unreachable(reason: String, isUnresolved: Bool = false)
    /// The host has no address that may be connected to (`CurlOptions.addresses`): nothing was sent, and repeating does
    /// not help.
    case forbiddenAddress
    /// TLS failed: the certificate, its name, or the handshake. Nothing was sent, and repeating does not help. Where the
    /// server's certificate is the cause, the fault says what is wrong with it.
    case insecure(reason: String, fault: ConnectionFault? = nil)
    /// The server has said that it has not processed the request and will not, as often as it was sent (RFC 9113 sections 6.8
    /// and 8.7): it may be sent again.
    case refused
    /// The connection broke, or the answer was no HTTP. The other side may have done what was asked.
    case interrupted(reason: String)
    /// The answer is larger than `CurlOptions` allow.
    case tooLarge
    /// As many calls as `CurlOptions.maximumQueued` are under way: nothing was sent.
    case overloaded
    /// The transport was closed before the answer was there, or before the call.
    case cancelled
    /// The request cannot be put on the wire: a defect of the caller. Nothing was sent.
    case malformedRequest(reason: String)
    /// libcurl could not be set up: memory, threads, or an option that this build of it does not know.
    case unavailable(reason: String)
}

extension TransportError: TransportFailure {
    /// Only what may succeed on a new connection. A call that timed out has used up the caller's time, and more calls do not help
    /// an overloaded queue.
    package var isTransient: Bool {
        switch self {
        case .unreachable, .refused, .interrupted: true
        case .timedOut, .noConnectionInTime, .forbiddenAddress, .insecure, .tooLarge, .overloaded, .cancelled,
            .malformedRequest, .unavailable:
            false
        }
    }

    /// A call that was cancelled or ran out of time may have been under way.
    package var isUnsent: Bool {
        switch self {
        case .noConnectionInTime, .unreachable, .forbiddenAddress, .insecure, .refused, .overloaded, .malformedRequest,
            .unavailable:
            true
        case .timedOut, .interrupted, .tooLarge, .cancelled: false
        }
    }

    package var isPermanent: Bool {
        switch self {
        case .forbiddenAddress, .malformedRequest: true
        case .timedOut, .noConnectionInTime, .unreachable, .insecure, .refused, .interrupted, .tooLarge, .overloaded,
            .cancelled, .unavailable:
            false
        }
    }

    package var isUnresolved: Bool { if case .unreachable(_, true) = self { true } else { false } }
}

extension TransportError {
    package var fault: ConnectionFault? { if case .insecure(_, let fault) = self { fault } else { nil } }

    package var kind: String {
        switch self {
        case .timedOut, .noConnectionInTime: "timeout"
        case .unreachable: "unreachable"
        case .forbiddenAddress: "forbidden_address"
        case .insecure: "insecure"
        case .refused: "refused"
        case .interrupted: "interrupted"
        case .tooLarge: "too_large"
        case .overloaded: "overloaded"
        case .cancelled: "cancelled"
        case .malformedRequest: "malformed_request"
        case .unavailable: "unavailable"
        }
    }
}

extension TransportError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .timedOut: "no answer in time"
        case .noConnectionInTime: "no connection in time"
        case .unreachable(let reason, _): "unreachable: \(reason)"
        case .forbiddenAddress: "the host has no address that may be connected to"
        case .insecure(let reason, _): "no secure connection: \(reason)"
        case .refused: "the server refused to process the request"
        case .interrupted(let reason): "interrupted: \(reason)"
        case .tooLarge: "the answer is too large"
        case .overloaded: "too many calls at once"
        case .cancelled: "the transport was closed"
        case .malformedRequest(let reason): "not a request: \(reason)"
        case .unavailable(let reason): "libcurl is not available: \(reason)"
        }
    }
}
