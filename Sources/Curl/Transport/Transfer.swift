// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc
import System

/// One easy handle and what it works on. It belongs to the transfer thread alone, and libcurl's pointer to it (in the
/// callbacks) is good because the thread keeps every transfer until its handle has left the multi handle.
final class Transfer {
    let easy: UnsafeMutableRawPointer
    private var request: PendingRequest?
    /// When the thread ends it.
    private(set) var deadline = Deadline.now
    private var answer = ResponseBuilder(maximumBodyBytes: 0)
    private var connectTimeout = Duration.zero
    private var egress: EgressGuard
    private let queue: RequestQueue
    /// Whether libcurl's handle is as good as a new one. After a failure or a repetition it may remember a refused stream,
    /// which `curl_easy_reset(3)` does not make it forget, and would take the next failure for another one.
    private(set) var isReusable = false
    private var fieldLines: UnsafeMutablePointer<curl_slist>?

    /// `curl_easy_init(3)`.
    /// - Parameter queue: where the calls come from.
    /// - Throws: `unavailable`.
    init(_ queue: RequestQueue) throws(TransportError) {
        guard let easy = curl_easy_init() else { throw .unavailable(reason: "no handle") }
        self.easy = easy
        self.queue = queue
        // Until the first call.
        egress = EgressGuard(.publicOnly(), for: "", resends: .none)
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(fieldLines)
    }

    /// Makes the handle ready for one call. What the call before had set is forgotten; its connection is not.
    /// - Throws: `unavailable`, when libcurl does not know an option or has no memory.
    func begin(_ request: PendingRequest, options: CurlOptions) throws(TransportError) {
        self.request = request
        deadline = request.deadline
        answer = ResponseBuilder(maximumBodyBytes: options.maximumResponseBytes)
        isReusable = false
        curl_easy_reset(easy)
        egress = EgressGuard(
            options.proxy == nil ? options.addresses : .any, for: request.outgoing.hostAndPort,
            resends: request.outgoing.isIdempotent
                ? .any : Resends(refusedOn: easy, maximum: options.maximumResends))
        try setTrust(options)
        try setBounds(options, deadline: request.deadline)
        try setRequest(request.outgoing)
        try setCallbacks()
    }

    /// Whether the whole answer is there, whatever libcurl still waits for.
    var isAnswered: Bool { answer.isWhole }

    /// How long libcurl may take to see that a transfer is over whose answer is whole.
    private static let afterAnswer = Duration.milliseconds(250)

    /// Leaves no more time than that from now on; done again, it gives none back.
    /// - Returns: the deadline.
    func shortenDeadline() -> Deadline {
        deadline = min(deadline, .after(Self.afterAnswer))
        return deadline
    }

    /// Tells the caller the outcome, and releases the request.
    ///
    /// A server may answer before it has read the whole request, and then reset the stream; the answer counts (RFC 9113
    /// section 8.1). Where others share the connection libcurl may call that an error of the stream, or go on sending
    /// until the time is up.
    func finish(_ code: CURLcode) {
        let request = self.request
        self.request = nil
        if egress.sendings == 0 { queue.didSend() }
        isReusable = code == CURLE_OK && egress.sendings == 1
        defer { answer = ResponseBuilder(maximumBodyBytes: 0) }
        guard !answer.isTooLarge else { return request?.finish(.failure(.tooLarge)) ?? () }
        guard code == CURLE_OK || answer.isWhole else {
            let error =
                egress.hasOnlyForbidden
                ? .forbiddenAddress : exact(TransportError(code, verification: number(CURLINFO_SSL_VERIFYRESULT)))
            return request?.finish(.failure(error)) ?? ()
        }
        do throws(TransportError) {
            request?.finish(.success(try answer.response(status: number(CURLINFO_RESPONSE_CODE))))
        } catch {
            request?.finish(.failure(error))
        }
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        curl_easy_getinfo_long(easy, info, &value)
        return value
    }

    /// As `finish`, for a transfer that the thread itself ends.
    func abandon(_ error: TransportError) {
        guard !answer.isWhole else { return finish(CURLE_OK) }
        if egress.sendings == 0 { queue.didSend() }
        request?.finish(.failure(exact(error)))
        request = nil
        answer = ResponseBuilder(maximumBodyBytes: 0)
    }

    /// Where libcurl repeats a request and the new connection cannot be made, its error says so, and the request may have been
    /// processed anyway, unless the server has refused to. An answer that is not HTTP may be to a processed one, too.
    private func exact(_ error: TransportError) -> TransportError {
        if egress.isRefused { return .refused }
        if egress.sendings > 0 { return error.isUnsent ? .interrupted(reason: error.description) : error }
        return error == .timedOut ? .noConnectionInTime : error
    }

    private func setTrust(_ options: CurlOptions) throws(TransportError) {
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let file = options.caFile { try set(CURLOPT_CAINFO, file) }
        if options.notesCertificate { try set(CURLOPT_CERTINFO, 1) }
        if let own = options.clientCertificate {
            try set(CURLOPT_SSLCERT, own.file)
            try set(CURLOPT_SSLCERTTYPE, own.kind)
            if let password = own.password { try set(CURLOPT_KEYPASSWD, password.reveal()) }
        }
        try set(CURLOPT_PROTOCOLS_STR, options.allowPlainHTTP ? "https,http" : "https")
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        // An empty text forbids a proxy; without it libcurl would obey the environment (`CURLOPT_PROXY(3)`).
        try set(CURLOPT_PROXY, options.proxy ?? "")
        try set(CURLOPT_NOPROXY, "")
        // What a proxy says when it has made the way is no answer, and one that says it has no body would be whole.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    private func setBounds(_ options: CurlOptions, deadline: Deadline) throws(TransportError) {
        connectTimeout = options.connectTimeout
        try set(CURLOPT_TIMEOUT_MS, max(1, deadline.millisecondsLeft))
        try set(CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeout.curlMilliseconds)
        try set(CURLOPT_NOSIGNAL, 1)
        // Without it, ending a transfer waits for getaddrinfo(3), and every other transfer with it.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_MAXAGE_CONN, options.maximumIdleSeconds)
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // Wait for the first connection to say whether it is HTTP/2 instead of opening one per call.
        try set(CURLOPT_PIPEWAIT, 1)
    }

    private func setRequest(_ request: OutgoingRequest) throws(TransportError) {
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PATH_AS_IS, 1)
        switch request.method {
        case .get where request.body.isEmpty: try set(CURLOPT_HTTPGET, 1)
        case .head: try set(CURLOPT_NOBODY, 1)
        case .delete where request.body.isEmpty: try set(CURLOPT_CUSTOMREQUEST, "DELETE")
        default:
            try set(CURLOPT_POST, 1)
            try set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
            try set(CURLOPT_POSTFIELDSIZE, request.body.count)
            try check(
                request.body.withUnsafeBytes {
                    // libcurl copies the bytes, and only reads them.
                    curl_easy_setopt_pointer(
                        easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
                })
        }
        curl_slist_free_all(fieldLines)
        fieldLines = nil
        for line in request.fieldLines {
            guard let longer = curl_slist_append(fieldLines, line) else { throw .unavailable(reason: "no memory") }
            fieldLines = longer
        }
        try check(curl_easy_setopt_list(easy, CURLOPT_HTTPHEADER, fieldLines))
    }

    private func setCallbacks() throws(TransportError) {
        let me = Unmanaged.passUnretained(self).toOpaque()
        let pointers = [
            CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_SOCKOPTDATA,
            CURLOPT_PREREQDATA,
        ]
        for option in pointers { try check(curl_easy_setopt_pointer(easy, option, me)) }
        try check(
            curl_easy_setopt_opensocket(easy, CURLOPT_OPENSOCKETFUNCTION) { me, _, target in
                guard let me, let target else { return CURL_SOCKET_BAD }
                return Unmanaged<Transfer>.fromOpaque(me).takeUnretainedValue().egress.open(target)
            })
        try check(
            curl_easy_setopt_prereq(easy, CURLOPT_PREREQFUNCTION) { me, address, _, _, _ in
                guard let me, let address else { return CURL_PREREQFUNC_ABORT }
                let transfer = Unmanaged<Transfer>.fromOpaque(me).takeUnretainedValue()
                return transfer.beginSending(at: address) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            })
        try check(
            curl_easy_setopt_sockopt(easy, CURLOPT_SOCKOPTFUNCTION) { me, socket, _ in
                guard let me else { return CURL_SOCKOPT_ERROR }
                let transfer = Unmanaged<Transfer>.fromOpaque(me).takeUnretainedValue()
                Transfer.limitSilence(of: socket, to: transfer.connectTimeout)
                return CURL_SOCKOPT_OK
            })
        try check(
            curl_easy_setopt_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, me in
                Transfer.take(bytes, size, count, me) { $0.take(body: $1) }
            })
        try check(
            curl_easy_setopt_callback(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, me in
                Transfer.take(bytes, size, count, me) { $0.take(headerLine: $1) }
            })
    }

    private func beginSending(at address: UnsafePointer<CChar>) -> Bool {
        let isFirst = egress.sendings == 0
        guard egress.begin(at: address) else { return false }
        if isFirst { queue.didSend() }
        return true
    }

    /// Lets the kernel end a connection whose peer acknowledges nothing for that long (tcp(7), TCP_USER_TIMEOUT): as long
    /// as a new one would be waited for. Otherwise a connection that a firewall has forgotten stays in the pool, and
    /// every call that is put on it times out until TCP gives up, after a quarter of an hour: libcurl does not blame an
    /// HTTP/2 connection for the time that a transfer on it takes.
    static func limitSilence(of socket: Int32, to duration: Duration) {
        var milliseconds = UInt32(clamping: duration.curlMilliseconds)
        // Refused for what is no TCP socket; then it has no such trouble.
        setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<UInt32>.size))
    }

    /// What both callbacks do. A number other than the bytes' ends the transfer with `CURLE_WRITE_ERROR`.
    private static func take(
        _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ me: UnsafeMutableRawPointer?,
        _ accept: (inout ResponseBuilder, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let me else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(me).takeUnretainedValue()
        let (length, overflow) = size.multipliedReportingOverflow(by: count)
        guard !overflow, accept(&transfer.answer, UnsafeRawBufferPointer(start: bytes, count: length)) else {
            return -1
        }
        return length
    }

    private func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try check(curl_easy_setopt_long(easy, option, value))
    }

    /// libcurl copies the text.
    private func set(_ option: CURLoption, _ text: String) throws(TransportError) {
        try check(curl_easy_setopt_string(easy, option, text))
    }

    private func check(_ code: CURLcode) throws(TransportError) {
        guard code == CURLE_OK else { throw TransportError(code) }
    }
}
