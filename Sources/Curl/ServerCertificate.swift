// SPDX-License-Identifier: Apache-2.0
import CCurl
import HTTP
import Synchronization

/// What a transport has seen of its server's certificate, at its last handshake.
final class ServerCertificate: Sendable {
    private let lastExpiry = Mutex<Int64?>(nil)

    /// Seconds since 1970; nil as long as there was no handshake, or none whose time could be read.
    var expiry: Int64? { lastExpiry.withLock(\.self) }

    /// Looks at what a transfer knows (`CURLINFO_CERTINFO(3)`); one on a connection that was there before knows nothing.
    func note(_ easy: UnsafeMutableRawPointer) {
        var pointer: UnsafeMutableRawPointer?
        guard curl_easy_getinfo_pointer(easy, CURLINFO_CERTINFO, &pointer) == CURLE_OK,
            let chain = pointer?.assumingMemoryBound(to: curl_certinfo.self).pointee, chain.num_of_certs > 0,
            // The server's own comes first.
            let expiry = Self.expiry(in: chain.certinfo?.pointee)
        else { return }
        lastExpiry.withLock { $0 = expiry }
    }

    private static let label = "Expire date:"

    private static func expiry(in lines: UnsafeMutablePointer<curl_slist>?) -> Int64? {
        var next = lines
        while let line = next?.pointee {
            let text = line.data.map { String(cString: $0) } ?? ""
            if text.hasPrefix(label) { return seconds(text.dropFirst(label.utf8.count)) }
            next = line.next
        }
        return nil
    }

    /// `Nov 21 13:16:00 2027 GMT`, as OpenSSL prints times: HTTP's third form without the day's name and with the zone's.
    private static func seconds(_ text: Substring) -> Int64? {
        guard text.hasSuffix(" GMT") else { return nil }
        return HTTPDate.seconds("Day \(text.dropLast(4))", now: 0)
    }
}
