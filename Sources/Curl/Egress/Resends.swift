// SPDX-License-Identifier: Apache-2.0
import CCurl

/// When libcurl may send a request once more by itself, over another connection.
enum Resends: Equatable {
    /// Whatever the reason: two requests do what one does.
    case any
    /// Only what the server has refused to process: its stream was reset with `REFUSED_STREAM`, or is above the last one that
    /// the server's GOAWAY names (RFC 9113 sections 8.7 and 6.8); or the server wants it by HTTP/1.1 (`HTTP_1_1_REQUIRED`).
    case refused(maximum: Int)
    case none

    /// Keeps libcurl from repeating a request that may have been processed.
    ///
    /// `Curl_retry_request` (`lib/transfer.c`) repeats what has brought no byte of an answer over a connection that was used
    /// before, whatever happened to that connection, but not where this RTSP request is chosen, which HTTP ignores. Then
    /// a refusal is the only reason that is left.
    init(refusedOn easy: UnsafeMutableRawPointer, maximum: Int) {
        let isKnown = Self.isKnownVersion && curl_easy_setopt_long(easy, CURLOPT_RTSP_REQUEST, receive) == CURLE_OK
        self = isKnown ? .refused(maximum: maximum) : .none
    }

    /// From Debian 12's libcurl to Debian 13's, whose sources were read. Another one may repeat for more reasons.
    private static let isKnownVersion: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST)?.pointee.version_num else { return false }
        return (0x07_58_00..<0x08_0F_00).contains(version)
    }()
}

private let receive = Int(CURL_RTSPREQ_RECEIVE)
