// SPDX-License-Identifier: Apache-2.0
import System

/// How a `CurlTransport` reaches other hosts, and how much it lets them send.
package struct CurlOptions: Sendable {
    /// The longest a call may take, from `respond(to:)` to the last byte of the answer.
    package var timeout: Duration
    /// The longest that name lookup, TCP and TLS may take together, within `timeout`.
    package var connectTimeout: Duration
    /// A PEM file of the certificate authorities to trust; nil: the host's own.
    package var caFile: String?
    /// A proxy's URL, such as `http://proxy.example:3128`; nil: none, whatever `https_proxy` says in the environment.
    package var proxy: String?
    /// Which addresses may be connected to. Not asked where there is a proxy: then every connection is made to the proxy,
    /// which the operator has named, and the proxy must know whom to let through to where.
    package var addresses: AddressPolicy
    /// Sent as `User-Agent` where the request has none.
    package var userAgent: String
    /// An answer with a longer body is `TransportError.tooLarge`.
    package var maximumResponseBytes: Int
    /// Connections to one host and port at once; over HTTP/2 each carries up to `maximumStreams` calls.
    package var maximumConnectionsPerHost: Int
    /// Calls that wait or are under way at once; one more is `TransportError.overloaded`.
    package var maximumQueued: Int
    /// Of these, the calls under way: each costs some 40 KB. The others wait in their order.
    package var maximumTransfers = Int.max
    /// Whether `CurlTransport.certificateExpiry` is wanted: for a transport to one server. Each handshake costs a look at
    /// the certificates.
    package var notesCertificate = false
    /// A connection that was idle for longer is not used again, in seconds. A server closes idle connections too, often
    /// after 60 s or more (nginx: 75). A POST that is sent over HTTP/2 while the server closes fails, and it must not be
    /// repeated, because libcurl cannot say whether the server acted on it.
    package var maximumIdleSeconds = 45
    /// How often a request is sent again that the server has refused to process. One more refusal is
    /// `TransportError.refused`.
    package var maximumResends = 2
    /// Shown to servers that ask for one. Without it no server hears who calls.
    package var clientCertificate: ClientCertificate?
    /// Calls that one HTTP/2 connection carries at once, unless the server allows fewer.
    package var maximumStreams = maximumStreamsPerConnection
    /// Whether `http://` may be called too; for tests and for a service on this host.
    package var allowPlainHTTP: Bool

    /// What `maximumStreams` is unless it is set. With four connections
    /// 1000 calls are under way at once. Until a new connection's server has said how many, libcurl takes 100 for granted,
    /// so a larger burst to a host that was not called lately opens a second one.
    package static let maximumStreamsPerConnection = 250
    /// Idle connections that are kept, to all hosts together.
    package static let maximumIdleConnections = 64
    /// Idle transfer handles that are kept; each holds some kilobytes. As many as a hub has under way: to free them after
    /// each burst and to make them for the next leaves the heap in pieces, which takes more memory than they do.
    package static let maximumIdleTransfers = 1_024
    /// Field lines of an answer, of all its parts (1xx answers and trailers) together.
    package static let maximumResponseFields = 128
    /// Bytes of all those field lines together.
    package static let maximumResponseFieldBytes = 32 * 1024

    /// Ten seconds to answer, five of them to connect, any address, 1 MiB of answer, four connections per host, 1024
    /// calls at once.
    package init(
        timeout: Duration = .seconds(10), connectTimeout: Duration = .seconds(5), caFile: String? = nil,
        proxy: String? = nil, addresses: AddressPolicy = .any, userAgent: String = "app-backend",
        maximumResponseBytes: Int = 1 << 20, maximumConnectionsPerHost: Int = 4, maximumQueued: Int = 1024,
        allowPlainHTTP: Bool = false
    ) {
        self.timeout = timeout
        self.connectTimeout = connectTimeout
        self.caFile = caFile
        self.proxy = proxy
        self.addresses = addresses
        self.userAgent = userAgent
        self.maximumResponseBytes = maximumResponseBytes
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
        self.maximumQueued = maximumQueued
        self.allowPlainHTTP = allowPlainHTTP
    }
}

extension Duration {
    /// Whole milliseconds, at least 1 (0 means "no limit" to libcurl), at most those of `Deadline.farthest`.
    var curlMilliseconds: Int { Int(max(1, min(max(self, .zero), Deadline.farthest) / .milliseconds(1))) }
}
