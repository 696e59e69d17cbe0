// SPDX-License-Identifier: Apache-2.0
import CCurl
import System

/// What the transfer thread sleeps on: the sockets that libcurl names (`CURLMOPT_SOCKETFUNCTION(3)`), and `wakeUp`.
final class SocketWatch: Sendable {
    private let poller: Poller
    private let wakeUp: EventFD

    /// Nil where the system has no descriptor left for it.
    init?(_ wakeUp: EventFD) {
        guard let poller = Poller(), poller.add(wakeUp.number, .readable) else { return nil }
        self.poller = poller
        self.wakeUp = wakeUp
    }

    /// Has `multi` say from now on which sockets are to be watched, and for what. `multi` does not retain this object.
    /// - Returns: false, when libcurl does not take it.
    func attach(to multi: UnsafeMutableRawPointer) -> Bool {
        let me = Unmanaged.passUnretained(self).toOpaque()
        let first = curl_multi_setopt_socket(multi, CURLMOPT_SOCKETFUNCTION) { _, socket, what, me, _ in
            guard let me else { return -1 }
            return Unmanaged<SocketWatch>.fromOpaque(me).takeUnretainedValue().watch(socket, what) ? 0 : -1
        }
        return first == CURLM_OK && curl_multi_setopt_pointer(multi, CURLMOPT_SOCKETDATA, me) == CURLM_OK
    }

    /// - Parameter what: one of `CURL_POLL_…`.
    private func watch(_ socket: Int32, _ what: Int32) -> Bool {
        let events: Poller.Events? =
            switch what {
            case CURL_POLL_IN: .readable
            case CURL_POLL_OUT: .writable
            case CURL_POLL_INOUT: [.readable, .writable]
            default: nil
            }
        guard let events else {
            poller.remove(socket)
            return true
        }
        return poller.change(socket, events) || poller.add(socket, events)
    }

    /// Sleeps until a socket is ready or `wakeUp` is signalled.
    /// - Returns: the socket; nil for `wakeUp`, and when the time is over.
    func next(milliseconds: Int32) -> Int32? {
        guard let number = poller.next(milliseconds: milliseconds) else { return nil }
        guard number == wakeUp.number else { return number }
        wakeUp.drain()
        return nil
    }
}
