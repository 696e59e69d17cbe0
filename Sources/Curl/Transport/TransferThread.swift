// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// A thread that runs one closure and must be ended once.
struct TransferThread: ~Copyable, Sendable {
    /// Tells the thread from others.
    struct ID: Sendable {
        fileprivate let thread: pthread_t

        var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }
    }

    let id: ID

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
            throw .unavailable(reason: "no thread: " + systemErrorText(code))
        }
        id = ID(thread: thread)
    }

    /// Waits until the closure has returned; on the thread itself, which cannot wait for its own end, it only lets go.
    consuming func end() {
        if id.isCurrent { pthread_detach(id.thread) } else { pthread_join(id.thread, nil) }
    }
}
