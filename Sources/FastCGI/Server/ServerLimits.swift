// SPDX-License-Identifier: Apache-2.0

/// How much of everything the FastCGI door lets in. Every number that comes from outside meets one of these.
package struct ServerLimits: Sendable {
    /// Threads that carry requests. A request that is put off needs none; one that waits in its worker lets it sleep, cheaply.
    package var workers = 64
    /// Bytes of one request body. More is answered 413.
    package var bodyBytes = 64 * 1024
    /// Bytes of all parameters of one request, as they are encoded on the wire.
    package var parameterBytes = 64 * 1024
    /// Number of parameters of one request. nginx sends about 20 and one per header field.
    package var parameters = 256
    /// Bytes of one parameter's name.
    package var parameterNameBytes = 256
    /// Bytes of one parameter's value.
    package var parameterValueBytes = 32 * 1024
    /// Open connections, idle ones included. When there are so many, no more are accepted; they wait in the backlog.
    package var connections = 4096
    /// Bytes of memory that requests which arrive in pieces may hold together; one more piece is refused. Web servers
    /// send what they have read whole, so honest requests are there for milliseconds. Requests that are put off may hold as
    /// much again, of which a quarter is one source's; one more is answered 503, or keeps its worker where it has acted.
    package var waitingBytes = 64 * 1024 * 1024
    /// Seconds from a request's first byte to its last, and from a connection's beginning to its first byte; then the
    /// connection is closed. One that has served a request may be idle for as long as the web server keeps it.
    package var receiveSeconds = 15
    /// Seconds that the web server may take to read one answer; then its connection is closed.
    package var sendSeconds = 30
    /// Seconds that `stop()` leaves to the requests in flight.
    package var drainSeconds = 20

    /// Bytes of record headers and padding that one request may spend beyond its parameters and body: 500 records.
    package static let framingBytes = 8 * 1024
    /// The largest request that limits may allow: each worker holds one in memory, twice.
    package static let maximumRequestBytes = 1024 * 1024

    /// The largest body that fits into such a request beside parameters of the default size.
    package static let maximumBodyBytes = maximumRequestBytes - ServerLimits().parameterBytes - framingBytes

    package init() {}

    /// The most bytes that one request may take on the wire, records and all.
    var requestBytes: Int {
        parameterBytes.addingClamped(bodyBytes).addingClamped(Self.framingBytes)
    }

    /// The name of the first limit that makes no sense; nil when all do.
    var fault: String? {
        let positive = [
            ("workers", workers), ("parameterBytes", parameterBytes), ("parameters", parameters),
            ("parameterNameBytes", parameterNameBytes), ("parameterValueBytes", parameterValueBytes),
            ("connections", connections), ("receiveSeconds", receiveSeconds), ("sendSeconds", sendSeconds),
        ]
        if let low = positive.first(where: { $0.1 < 1 || $0.1 > Int(Int32.max) }) { return low.0 }
        if bodyBytes < 0 || requestBytes > Self.maximumRequestBytes { return "bodyBytes" }
        // At least one request must fit, in a room that was doubled until it did.
        if waitingBytes < 2 * requestBytes { return "waitingBytes" }
        return drainSeconds < 0 || drainSeconds > Int(Int32.max) ? "drainSeconds" : nil
    }
}

extension Int {
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
