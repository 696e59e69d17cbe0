// SPDX-License-Identifier: Apache-2.0
import CCurl
import HTTP
import Synchronization

/// The door out: a responder whose answers come over the network.
///
/// One thread carries all transfers (`libcurl-multi(3)`), over HTTP/2 where the server speaks it, so that many calls
/// share few connections. A caller sleeps until its answer or its deadline is there. Peer and host name are always
/// verified; redirects are answers like any other; the environment's proxies are ignored.
package final class CurlTransport: Responder {
    private let options: CurlOptions
    private let queue: CallQueue
    private let thread: Mutex<TransferThread?>

    /// Starts the thread; `close()` or the end of the last reference ends it.
    /// - Throws: `unavailable`, when libcurl or a thread cannot be had.
    package init(_ options: CurlOptions = CurlOptions()) throws(TransportError) {
        guard libraryIsReady, let multi = curl_multi_init() else {
            throw .unavailable(reason: "libcurl could not be set up")
        }
        curl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        curl_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(1, options.maximumConnectionsPerHost))
        curl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, CurlOptions.maximumIdleConnections)
        curl_multi_setopt_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, CurlOptions.maximumStreamsPerConnection)
        let queue = CallQueue(capacity: options.maximumQueued, multi: multi)
        // The thread is the handle's only owner from here on; if it cannot start, the handle is freed here.
        nonisolated(unsafe) let handedOver = multi
        do throws(TransportError) {
            let thread = try TransferThread {
                TransferLoop(multi: handedOver, queue: queue, options: options).run()
            }
            self.thread = Mutex(thread)
        } catch {
            curl_multi_cleanup(multi)
            throw error
        }
        self.options = options
        self.queue = queue
    }

    deinit {
        close()
    }

    /// Sends the request to `scheme://authority` + target and sleeps until the whole answer is there.
    /// Fields that say how a message is carried (`Host`, `Content-Length` and the like) are written by libcurl.
    /// - Throws: `malformedRequest`, before anything is sent; `overloaded`, `cancelled` at once; `timedOut` at the
    ///   deadline, however busy the thread is; then what became of the transfer.
    package func respond(to request: Request) throws(TransportError) -> Response {
        let deadline = Deadline.after(options.timeout)
        let outgoing = try OutgoingRequest(
            request, allowPlainHTTP: options.allowPlainHTTP, userAgent: options.userAgent)
        let call = Call(outgoing, deadline: deadline)
        try queue.add(call)
        return try call.wait()
    }

    /// Ends every call under way with `cancelled`, refuses new ones, and returns when the thread has ended and its
    /// connections are closed. Doing it again changes nothing.
    package func close() {
        queue.close()
        thread.withLock { $0.take()?.join() }
    }
}

/// `curl_global_init(3)`, once for the process and before any other call; Swift initialises a global once, on first
/// use, whichever threads are there.
private let libraryIsReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
