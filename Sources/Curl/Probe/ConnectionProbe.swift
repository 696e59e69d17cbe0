// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc

/// Connects to a server, completes TLS, and sends no request: it finds out whether the server answers, and with which
/// certificate.
///
/// For a transport "no secure connection" is enough. An operator who repairs it needs to know which certificate it was,
/// and what is wrong with it.
package struct ConnectionProbe: Sendable {
    /// A connection that could be made.
    package struct Connection: Equatable, Sendable {
        /// nil where there is no TLS.
        package var certificate: ServerCertificate?
        /// Our address of it: loopback when the server looks at us as at this host.
        package var localAddress: String

        package init(certificate: ServerCertificate?, localAddress: String) {
            self.certificate = certificate
            self.localAddress = localAddress
        }
    }

    /// Why there is none.
    package enum Failure: Error, Equatable, Sendable {
        /// The name has no address.
        case unresolvable
        /// The host answers, and no process listens on the port.
        case refused
        case timedOut
        /// The proxy cannot be reached, or does not let us through.
        case proxy
        case certificate(Fault, ServerCertificate?)
        /// The peer answers without TLS, or without a version of it that both sides know.
        case noTLS
        /// The file of certificates to trust cannot be used.
        case caFile
        /// Another of libcurl's sentences.
        case other(String)
    }

    /// What is wrong with a certificate.
    package enum Fault: Equatable, Sendable {
        case expired, notYetValid, selfSigned, unknownIssuer, otherName
        /// OpenSSL's number for it (`X509_V_ERR_…`).
        case other(Int)
    }

    private let url: String
    private let caFile: String?
    private let proxy: String?
    private let timeout: Duration

    /// - Parameters:
    ///   - scheme: `https` or `http`.
    ///   - authority: host and optional port.
    ///   - caFile: as in `CurlOptions`, as is `proxy`.
    ///   - timeout: for name, TCP and TLS together.
    package init(
        scheme: String, authority: String, caFile: String? = nil, proxy: String? = nil,
        timeout: Duration = .seconds(5)
    ) {
        url = "\(scheme)://\(authority)/"
        self.caFile = caFile
        self.proxy = proxy
        self.timeout = timeout
    }

    /// Blocks until the connection is there, or the deadline; then closes it.
    /// - Throws: `Failure`.
    package func connect() throws(Failure) -> Connection {
        let (code, handle) = try attempt(isVerifying: true)
        guard code != CURLE_OK else { return handle.connection }
        guard case .certificate = CurlFailure(code) else { throw failure(code, handle) }
        // The chain is good, and the name is not: then the certificate is known already.
        if let certificate = handle.certificate { throw .certificate(.otherName, certificate) }
        let fault = handle.fault
        // Once more without verifying, to say which certificate it is. Nothing is sent over it.
        throw .certificate(fault, try attempt(isVerifying: false).handle.certificate)
    }

    private func attempt(isVerifying: Bool) throws(Failure) -> (code: CURLcode, handle: ProbeHandle) {
        guard libraryIsReady, let handle = ProbeHandle() else { throw .other("libcurl could not be set up") }
        let settings: [(CURLoption, Int)] = [
            (CURLOPT_CONNECT_ONLY, 1), (CURLOPT_CERTINFO, 1), (CURLOPT_NOSIGNAL, 1), (CURLOPT_QUICK_EXIT, 1),
            (CURLOPT_SSL_VERIFYPEER, isVerifying ? 1 : 0), (CURLOPT_SSL_VERIFYHOST, isVerifying ? 2 : 0),
            (CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2), (CURLOPT_TIMEOUT_MS, timeout.curlMilliseconds),
            (CURLOPT_CONNECTTIMEOUT_MS, timeout.curlMilliseconds),
        ]
        var texts = [(CURLOPT_URL, url), (CURLOPT_PROTOCOLS_STR, "https,http"), (CURLOPT_PROXY, proxy ?? "")]
        texts.append((CURLOPT_NOPROXY, ""))
        if let caFile { texts.append((CURLOPT_CAINFO, caFile)) }
        for (option, value) in settings where curl_easy_setopt_long(handle.easy, option, value) != CURLE_OK {
            throw .other("libcurl does not know an option")
        }
        for (option, value) in texts where curl_easy_setopt_string(handle.easy, option, value) != CURLE_OK {
            throw .other("libcurl does not know an option")
        }
        return (curl_easy_perform(handle.easy), handle)
    }

    private func failure(_ code: CURLcode, _ handle: ProbeHandle) -> Failure {
        switch CurlFailure(code) {
        case .unresolvedHost: .unresolvable
        case .proxy: .proxy
        case .notConnected where proxy != nil, .receive where proxy != nil: .proxy
        case .notConnected where handle.number(CURLINFO_OS_ERRNO) == Int(ECONNREFUSED): .refused
        case .timedOut: .timedOut
        case .handshake: .noTLS
        case .caFile: .caFile
        case .notConnected, .receive, .certificate, .otherTLS, .malformedRequest, .unavailable, .other:
            .other(String(cString: curl_easy_strerror(code)))
        }
    }
}

/// One easy handle, and what libcurl tells of it afterwards.
private final class ProbeHandle {
    let easy: UnsafeMutableRawPointer

    init?() {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
    }

    deinit {
        curl_easy_cleanup(easy)
    }

    var connection: ConnectionProbe.Connection {
        ConnectionProbe.Connection(certificate: certificate, localAddress: localAddress)
    }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        curl_easy_getinfo_long(easy, info, &value)
        return value
    }

    /// `X509_V_ERR_…` of openssl/x509_vfy.h.
    var fault: ConnectionProbe.Fault {
        switch number(CURLINFO_SSL_VERIFYRESULT) {
        case 9: .notYetValid
        case 10: .expired
        case 18: .selfSigned
        case 19, 20, 21: .unknownIssuer
        case let code: .other(code)
        }
    }

    private var localAddress: String {
        var text: UnsafeMutableRawPointer?
        curl_easy_getinfo_pointer(easy, CURLINFO_LOCAL_IP, &text)
        return text.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
    }

    var certificate: ServerCertificate? { ServerCertificate(of: easy) }
}
