// SPDX-License-Identifier: Apache-2.0
import CCurl
import System

/// The multi handle and every transfer (`libcurl-multi(3)`). Only the transfer thread touches them.
final class TransferLoop {
    private let multi: UnsafeMutableRawPointer
    private let queue: RequestQueue
    private let options: CurlOptions
    private let certificate: LastCertificate
    /// Transfers whose handle is in the multi handle, by the handle.
    private var active: [UnsafeMutableRawPointer: Transfer] = [:]
    private var idle: [Transfer] = []
    private let sockets: SocketWatch
    /// No active transfer's deadline is earlier.
    private var earliestDeadline: Deadline?

    /// How long the thread sleeps when nothing is under way; a new call wakes it.
    private static let idleMilliseconds = 60_000

    /// Takes the multi handle over: `run()` frees it.
    init(
        multi: UnsafeMutableRawPointer, queue: RequestQueue, sockets: SocketWatch, options: CurlOptions,
        certificate: LastCertificate
    ) {
        self.multi = multi
        self.queue = queue
        self.sockets = sockets
        self.options = options
        self.certificate = certificate
    }

    /// Carries transfers until the queue is closed; then ends those under way with `cancelled` and frees everything.
    ///
    /// `curl_multi_perform(3)` would do with less, and loses wake-ups (seen in 7.88): it forgets the timers that are due
    /// when it ends, by a clock that each transfer it looks for a connection moves on; so a transfer that was called
    /// out of the queue for one, behind the place where the loop had been, slept until some other timer was due, five
    /// seconds later, or its deadline. `curl_multi_socket_action(3)` runs a transfer before it forgets its timer.
    func run() {
        var ready: Int32?
        while !queue.isClosed {
            startWaiting()
            var running: Int32 = 0
            curl_multi_socket_action(multi, ready ?? CURL_SOCKET_TIMEOUT, 0, &running)
            finishDone()
            shortenAnswered()
            endOverdue()
            // In the place of those that ended: nothing wakes this thread for what was in the queue before.
            startWaiting()
            ready = sockets.next(milliseconds: sleepMilliseconds)
        }
        stop()
    }

    /// Until libcurl's next timer or the next deadline, whichever is first (`curl_multi_timeout(3)`; -1: it has none).
    private var sleepMilliseconds: Int32 {
        var timer = 0
        if curl_multi_timeout(multi, &timer) != CURLM_OK || timer < 0 { timer = Self.idleMilliseconds }
        return Int32(min(timer, earliestDeadline?.millisecondsLeft ?? Self.idleMilliseconds, Self.idleMilliseconds))
    }

    /// All calls have the same time, so one that waits for a place has it before its deadline, when the calls before it end.
    private func startWaiting() {
        // A call that is refused takes no place, and nothing wakes this thread for those behind it.
        while active.count < options.maximumTransfers {
            let requests = queue.take(atMost: options.maximumTransfers - active.count)
            guard !requests.isEmpty else { return }
            for request in requests { start(request) }
        }
    }

    private func start(_ request: PendingRequest) {
        guard request.deadline > .now else { return refuse(request, .noConnectionInTime) }
        do throws(TransportError) {
            let transfer = if let used = idle.popLast() { used } else { try Transfer(queue) }
            try transfer.begin(request, options: options)
            guard curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
                throw .unavailable(reason: "no transfer can be added")
            }
            active[transfer.easy] = transfer
            earliestDeadline = min(earliestDeadline ?? request.deadline, request.deadline)
        } catch {
            refuse(request, error)
        }
    }

    private func refuse(_ request: PendingRequest, _ error: TransportError) {
        queue.didFinish(1)
        queue.didSend()
        request.finish(.failure(error))
    }

    /// `curl_multi_info_read(3)`: the message is gone once its handle is removed, so it is copied first.
    private func finishDone() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = message.pointee.data.result
            if options.notesCertificate { certificate.note(easy) }
            remove(easy) { $0.finish(code) }
        }
    }

    /// A server may answer before it has read the whole request (RFC 9113 section 8.1); libcurl then goes on sending, and
    /// may wait for the room to until the time is up.
    private func shortenAnswered() {
        for transfer in active.values where transfer.isAnswered {
            let deadline = transfer.shortenDeadline()
            earliestDeadline = min(earliestDeadline ?? deadline, deadline)
        }
    }

    /// libcurl minds the time of a transfer that has a connection, but not of one that still waits for one.
    private func endOverdue() {
        guard let earliest = earliestDeadline else { return }
        let now = Deadline.now
        guard earliest <= now else { return }
        for (easy, transfer) in active where transfer.deadline <= now {
            remove(easy) { $0.abandon(.timedOut) }
        }
        earliestDeadline = active.values.lazy.map(\.deadline).min()
    }

    /// Takes the handle out of the multi handle first: from then on libcurl has no pointer to the transfer.
    private func remove(_ easy: UnsafeMutableRawPointer, _ finish: (Transfer) -> Void) {
        curl_multi_remove_handle(multi, easy)
        guard let transfer = active.removeValue(forKey: easy) else { return }
        // Room first: a completion may send the next request at once.
        queue.didFinish(1)
        finish(transfer)
        if transfer.isReusable, idle.count < CurlOptions.maximumIdleTransfers { idle.append(transfer) }
    }

    /// In the order that `curl_multi_cleanup(3)` asks for: easy handles out, easy handles freed, multi handle freed.
    private func stop() {
        for request in queue.take(atMost: .max) { refuse(request, .cancelled) }
        for easy in active.keys { remove(easy) { $0.abandon(.cancelled) } }
        idle.removeAll()
        curl_multi_cleanup(multi)
    }
}
