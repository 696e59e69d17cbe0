// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A thread that runs one closure and can be joined once.
struct TransferThread: ~Copyable, Sendable {
    private let thread: pthread_t

    /// libcurl, OpenSSL and getaddrinfo's callers stay far below it.
    private static let stackBytes = 512 * 1024

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts the thread with every signal blocked: signals are the process's affair, and a write to a connection
    /// that the peer has closed must be an error to OpenSSL instead of a SIGPIPE (`CURLOPT_NOSIGNAL(3)` warns of it).
    /// - Throws: `unavailable`, when there can be no further thread.
    init(_ body: @escaping @Sendable () -> Void) throws(TransportError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackBytes)
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let start = Unmanaged.passRetained(Start(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw .unavailable(reason: "no thread: " + String(cString: strerror(code)))
        }
        self.thread = thread
    }

    /// Waits until the closure has returned.
    consuming func join() {
        pthread_join(thread, nil)
    }
}
