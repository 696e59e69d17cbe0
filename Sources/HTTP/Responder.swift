// SPDX-License-Identifier: Apache-2.0

/// The one arrow: a request in, an answer out.
///
/// Controllers, the router, the authentication handler, the hub and the network itself all have this shape, so they
/// plug into each other. It is synchronous: one thread carries one request from its first byte to its last.
public protocol Responder: Sendable {
    /// - Throws: what this responder could not turn into an answer; the caller that owns a table of errors does.
    func respond(to request: Request) throws -> Response
}

/// A responder made of a closure.
public struct ClosureResponder: Responder {
    private let body: @Sendable (Request) throws -> Response

    /// - Parameter body: what answers.
    public init(_ body: @escaping @Sendable (Request) throws -> Response) {
        self.body = body
    }

    /// - Throws: what the closure throws.
    public func respond(to request: Request) throws -> Response {
        try body(request)
    }
}

/// An error of a responder that reaches others over a network, and that knows whether asking again makes sense.
public protocol TransportFailure: Error {
    /// Whether the very same request, made again at once, may fare better. It says nothing of whether the first one was
    /// carried out.
    var isTransient: Bool { get }

    /// Whether it is certain that the other side never saw the request, so that making it again cannot do anything twice.
    var isUnsent: Bool { get }

    /// Whether this very request will never be made, however often it is tried: where it goes is forbidden, or it is malformed.
    var isPermanent: Bool { get }

    /// Whether the name of the other side's host has no address. That may be the name's fault, or the resolver's.
    var isUnresolved: Bool { get }

    /// One word for metrics: `timeout`, `unreachable`. One of a few, and never anything of the request.
    var kind: String { get }

    /// What an operator must correct before any request can be sent; nil where a later try may do without it.
    var fault: ConnectionFault? { get }
}

extension TransportFailure {
    /// Of a failure that says nothing of names.
    public var isUnresolved: Bool { false }

    /// The word where there is no other.
    public var kind: String { "failed" }

    /// Of a failure that says nothing of certificates.
    public var fault: ConnectionFault? { nil }
}

/// The arrow for a caller with many requests under way and no thread to spare for each: the answer comes in a completion.
///
/// What has this shape is a `Responder` as well wherever a thread may sleep until its one answer is there.
public protocol RequestSender: Sendable {
    /// Returns at once.
    /// - Parameter completion: called exactly once, with the answer or with a `TransportFailure`; possibly before this
    ///   call returns, and on a thread that carries the other requests too: be quick.
    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void)

    /// Requests that it has taken and that are not on their way yet: they wait for a connection, for a place on one, or for
    /// the thread that sends them.
    var unsent: Int { get }
}

extension RequestSender {
    /// Of a sender that lets no request wait.
    public var unsent: Int { 0 }
}
