// SPDX-License-Identifier: Apache-2.0
package import HTTP
internal import HTTPTypes
internal import Text

/// Speaks the hub's REST language through any `Responder`: the network, or a hub in this very process.
///
/// Calls block until the answer or the transport's deadline is there. A call that may be made twice without harm is
/// made twice when the connection fails at once; a send never is, for the hub may have taken it.
package struct HubClient: Hub {
    /// The newest version of the language that Microsoft published.
    package static let apiVersion = "2020-06"
    /// A list with more pages than this is not read to its end.
    package static let maximumPages = 100
    /// The most registrations asked for at once.
    package static let maximumTop = 1000
    /// A call is repeated only when it failed within this time: then the host refused or reset the connection. A later
    /// failure has used up the time that the caller wants to wait.
    package static let repeatWindow: Duration = .seconds(2)
    /// How much of a transport's error is kept, in characters.
    static let maximumReasonLength = 200

    private let connection: ConnectionString
    private let hub: String
    private let transport: any Responder
    /// Carries several calls at once; nil: the transport is for one at a time.
    let together: (sender: any RequestSender, timeout: Duration)?
    private let now: @Sendable () -> Int64
    private let clock: @Sendable () -> ContinuousClock.Instant
    let makeTrackingID: @Sendable () -> String
    private let tokens: TokenCache
    private(set) var trackingID: String?

    /// - Parameters:
    ///   - hub: the hub's name, as in the path.
    ///   - transport: its errors must hold neither URLs nor header fields, for their text goes into `HubError`. Those that
    ///     are a `TransportFailure` decide whether a call is repeated.
    ///   - together: the same way for several calls at once, and how long it waits for the answer to one.
    ///   - now: seconds since 1970.
    ///   - clock: measures how long a call took; the wall clock may be set meanwhile.
    package init(
        connection: ConnectionString, hub: String, transport: any Responder,
        together: (sender: any RequestSender, timeout: Duration)? = nil, now: @escaping @Sendable () -> Int64,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        makeTrackingID: @escaping @Sendable () -> String = TrackingID.random
    ) {
        self.connection = connection
        self.hub = PercentEncoding.encode(hub)
        self.transport = transport
        self.together = together
        self.now = now
        self.clock = clock
        self.makeTrackingID = makeTrackingID
        tokens = TokenCache(
            resource: "\(connection.scheme)://\(connection.endpoint)/\(self.hub)",
            key: SharedAccessKey(name: connection.keyName, key: connection.key, rights: .full))
    }

    /// Until when the access signature is good that was sent last, in seconds since 1970; nil before the first call. The
    /// next call makes a new one in time.
    package var signatureExpiry: Int64? { tokens.expiry }

    /// The same client, whose requests all bear this id, so that a user's request can be followed into the hub.
    package func tracking(_ id: String) -> any Hub {
        var client = self
        client.trackingID = id
        return client
    }

    /// One question to the hub.
    struct Call {
        var method: HTTPRequest.Method
        /// Below the hub: `registrations/…`, percent-encoded.
        var path: String
        /// Items behind the version, encoded: `$top=100`.
        var query: [String] = []
        var fields: HTTPFields = [:]
        var body: [UInt8] = []
        /// Whether twice is as good as once.
        var isRepeatable = true
    }

    /// - Returns: an answer of status 200, 201 or 204, and what the request was called.
    func perform(_ call: Call) throws(HubError) -> (response: Response, trackingID: String) {
        let id = trackingID ?? makeTrackingID()
        let response = try exchange(request(for: call, id: id), isRepeatable: call.isRepeatable)
        return (try Self.accepted(response), id)
    }

    /// - Throws: what an answer of another status than 200, 201 or 204 means.
    static func accepted(_ response: Response) throws(HubError) -> Response {
        guard [200, 201, 204].contains(response.status.code) else { throw HubError(response) }
        return response
    }

    func request(for call: Call, id: String) -> Request {
        var fields = call.fields
        fields[.authorization] = tokens.token(at: now()).reveal()
        fields[.apiVersion] = Self.apiVersion
        fields[.trackingID] = id
        let query = (["api-version=\(Self.apiVersion)"] + call.query).joined(separator: "&")
        return Request(
            method: call.method, scheme: connection.scheme, authority: connection.endpoint,
            path: "/\(hub)/\(call.path)", query: query, fields: fields, body: call.body, id: id)
    }

    func exchange(_ request: Request, isRepeatable: Bool) throws(HubError) -> Response {
        let start = clock()
        let first: HubError
        do {
            return try transport.respond(to: request)
        } catch {
            first = Self.unreachable(error)
            let isTransient = (error as? any TransportFailure)?.isTransient ?? true
            guard isRepeatable, isTransient, start.duration(to: clock()) <= Self.repeatWindow else { throw first }
        }
        do {
            return try transport.respond(to: request)
        } catch {
            throw Self.unreachable(error, after: first)
        }
    }

    static func unreachable(_ error: any Error, after first: HubError? = nil) -> HubError {
        let reason = String(String.UnicodeScalarView("\(error)".unicodeScalars.prefix(maximumReasonLength)))
        let isUnsent = (error as? any TransportFailure)?.isUnsent ?? false
        return .unreachable(reason, mayHaveActed: !isUnsent || first?.mayHaveActed ?? false)
    }
}
