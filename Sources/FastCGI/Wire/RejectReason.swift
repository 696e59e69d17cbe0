// SPDX-License-Identifier: Apache-2.0

/// Why the bytes of a connection were refused: the label of a counter, never bytes of the peer.
package enum RejectReason: String, Error, CaseIterable, Sendable {
    /// A record of another protocol version than 1.
    case version
    /// The first record is not a FCGI_BEGIN_REQUEST of 8 bytes with a request id other than 0.
    case notARequest
    /// A role other than responder.
    case role
    /// A record of another request id: multiplexing, which no web server does, or smuggling.
    case foreignRequest
    /// A record type that has no place at this point, an abort included.
    case recordType
    /// More bytes of parameters than `parameterBytes`.
    case parametersTooLong
    /// More parameters than `parameters`.
    case tooManyParameters
    /// A declared name longer than `parameterNameBytes`.
    case nameTooLong
    /// A declared value longer than `parameterValueBytes`.
    case valueTooLong
    /// The parameters end inside a name, a value or a length.
    case parametersCutShort
    /// More record headers and padding than any web server sends.
    case tooMuchFraming
    /// Bytes after the end of the request and before its answer.
    case bytesAfterEnd
    /// The connection ended inside a request.
    case connectionCutShort
    /// The request was not complete after `receiveSeconds`, or of the connection's first one nothing had come.
    case receiveTimeout
    /// The requests that arrive in pieces hold as much as `waitingBytes`.
    case waitingRoomFull
    /// The answer was not taken within `sendSeconds`.
    case sendTimeout
    /// A body above `bodyBytes`; answered 413.
    case bodyTooLarge
    /// A method, URI or length that makes no sense; answered 400.
    case malformed
}
