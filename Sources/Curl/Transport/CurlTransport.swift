// SPDX-License-Identifier: Apache-2.0
import CCurl
import HTTP
import System

/// The door out: a responder whose answers come over the network.
///
/// One thread carries all transfers (`libcurl-multi(3)`), over HTTP/2 where the server speaks it, so that many calls
/// share few connections. A caller sleeps until its answer or its deadline is there, or leaves a completion behind. Peer
/// and host name are always verified; redirects are answers like any other; the environment's proxies are ignored.
package final class CurlTransport: Responder, RequestSender {
    private let options: CurlOptions
    private let queue: RequestQueue
    private let thread: Lock<TransferThread?>
    private let threadID: TransferThread.ID
    private let certificate: LastCertificate

    /// Starts the thread; `close()` or the end of the last reference ends it.
    /// - Throws: `unavailable`, when libcurl or a thread cannot be had.
    package init(_ options: CurlOptions = CurlOptions()) throws(TransportError) {
        guard let wakeUp = EventFD(), let sockets = SocketWatch(wakeUp) else {
            throw .unavailable(reason: "no descriptor to wait with")
        }
        guard libraryIsReady, let multi = curl_multi_init() else {
            throw .unavailable(reason: "libcurl could not be set up")
        }
        guard sockets.attach(to: multi) else {
            curl_multi_cleanup(multi)
            throw .unavailable(reason: "libcurl does not say what to wait for")
        }
        curl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        curl_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(1, options.maximumConnectionsPerHost))
        curl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, CurlOptions.maximumIdleConnections)
        curl_multi_setopt_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, max(1, options.maximumStreams))
        let queue = RequestQueue(capacity: options.maximumQueued, wakeUp: wakeUp)
        let certificate = LastCertificate()
        // The thread is the handle's only owner from here on; if it cannot start, the handle is freed here.
        nonisolated(unsafe) let handedOver = multi
        do throws(TransportError) {
            let thread = try TransferThread {
                TransferLoop(
                    multi: handedOver, queue: queue, sockets: sockets, options: options, certificate: certificate
                ).run()
            }
            threadID = thread.id
            self.thread = Lock(thread)
        } catch {
            curl_multi_cleanup(multi)
            throw error
        }
        self.options = options
        self.queue = queue
        self.certificate = certificate
    }

    /// Until when the server's certificate is good that was shown at the last handshake, in seconds since 1970; nil before
    /// the first, and where `CurlOptions.notesCertificate` is not set.
    package var certificateExpiry: Int64? { certificate.expiry }

    deinit {
        queue.close()
        thread.withLock { $0.take()?.end() }
    }

    /// Sends the request to `scheme://authority` + target and sleeps until the whole answer is there.
    /// Fields that say how a message is carried (`Host`, `Content-Length` and the like) are written by libcurl.
    /// - Throws: `malformedRequest`, before anything is sent; `overloaded`, `cancelled` at once; `timedOut` at the
    ///   deadline, however busy the thread is; then the error of the transfer.
    package func respond(to request: Request) throws(TransportError) -> Response {
        let deadline = Deadline.after(options.timeout)
        let future = ResponseFuture()
        try start(request, deadline: deadline) {
            future.fulfill($0.mapError { $0 == .noConnectionInTime ? .timedOut : $0 })
        }
        return try future.wait(until: deadline)
    }

    /// As `respond(to:)`, for a caller that does not wait. Errors are `TransportError`s.
    /// - Parameter completion: called on the transfer thread, which carries no other call meanwhile. For a request that
    ///   is refused at once (`malformedRequest`, `overloaded`, `cancelled`) it is called before this returns. It may send
    ///   again and may close the transport. It is later than the deadline only while other completions hold the thread.
    package func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        do throws(TransportError) {
            try start(request, deadline: .after(options.timeout)) { completion($0.mapError { $0 }) }
        } catch {
            completion(.failure(error))
        }
    }

    package var unsent: Int { queue.unsent }

    private func start(
        _ request: Request, deadline: Deadline, _ completion: @escaping PendingRequest.Completion
    ) throws(TransportError) {
        let outgoing = try OutgoingRequest(
            request, allowPlainHTTP: options.allowPlainHTTP, userAgent: options.userAgent)
        try queue.add(PendingRequest(outgoing, deadline: deadline, completion: completion))
    }

    /// Ends every call under way with `cancelled`, refuses new ones, and returns when the thread has ended and its
    /// connections are closed. Doing it again changes nothing. Within a completion it returns at once, and the thread
    /// ends after it.
    package func close() {
        queue.close()
        guard !threadID.isCurrent else { return }
        thread.withLock { $0.take()?.end() }
    }
}

/// `curl_global_init(3)`, once for the process and before any other call; Swift initialises a global once, on first
/// use, whichever threads are there.
let libraryIsReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
