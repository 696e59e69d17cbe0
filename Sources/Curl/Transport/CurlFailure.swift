// SPDX-License-Identifier: Apache-2.0
import CCurl
import HTTP

/// What a code of libcurl means (`libcurl-errors(3)`): the one table for transfers and probes.
enum CurlFailure {
    case timedOut, unresolvedHost, proxy, notConnected, receive
    /// The handshake, the certificate that the server showed, the file of trusted ones, or TLS otherwise.
    case handshake, certificate, caFile, otherTLS
    /// The request is a defect of the caller; libcurl could not be set up.
    case malformedRequest, unavailable
    case other

    init(_ code: CURLcode) {
        self =
            switch code {
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_COULDNT_RESOLVE_HOST: .unresolvedHost
            case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxy
            case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: .notConnected
            case CURLE_RECV_ERROR: .receive
            case CURLE_SSL_CONNECT_ERROR: .handshake
            case CURLE_PEER_FAILED_VERIFICATION: .certificate
            case CURLE_SSL_CACERT_BADFILE: .caFile
            case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
                CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED:
                .otherTLS
            case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_FUNCTION_ARGUMENT: .malformedRequest
            case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_UNKNOWN_OPTION, CURLE_NOT_BUILT_IN,
                CURLE_SSL_ENGINE_NOTFOUND:
                .unavailable
            default: .other
            }
    }
}

extension TransportError {
    /// What a failed transfer's code means to the caller.
    /// - Parameter verification: what OpenSSL says of the server's certificate (`CURLINFO_SSL_VERIFYRESULT(3)`).
    init(_ code: CURLcode, verification: Int = 0) {
        let reason = String(cString: curl_easy_strerror(code))
        self =
            switch CurlFailure(code) {
            case .timedOut: .timedOut
            case .unresolvedHost: .unreachable(reason: reason, isUnresolved: true)
            case .proxy, .notConnected: .unreachable(reason: reason)
            case .certificate: .insecure(reason: reason, fault: ConnectionFault(verification))
            case .caFile: .insecure(reason: reason, fault: .missingTrust)
            case .handshake, .otherTLS: .insecure(reason: reason)
            case .malformedRequest: .malformedRequest(reason: reason)
            case .unavailable: .unavailable(reason: reason)
            case .receive, .other: .interrupted(reason: reason)
            }
    }
}

extension ConnectionFault {
    /// Of a certificate that libcurl has refused.
    /// - Parameter verification: `X509_V_ERR_…` of openssl/x509_vfy.h.
    init(_ verification: Int) {
        self =
            switch verification {
            // The chain is good, so it was the name; 1 is what libcurl leaves there then.
            case 0, 1, 62: .otherHost
            case 9: .notYetValid
            case 10: .expired
            case 2, 18, 19, 20, 21: .untrustedIssuer
            default: .unverifiable
            }
    }
}
