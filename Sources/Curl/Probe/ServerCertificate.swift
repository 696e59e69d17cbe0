// SPDX-License-Identifier: Apache-2.0
import CCurl
import Text

/// What a server's certificate says of itself, for a person to read. Nothing here was verified.
package struct ServerCertificate: Equatable, Sendable {
    /// Whose it is: `CN = push.example.com`.
    package let subject: String
    /// The signer's name. Equal to `subject`: self-signed.
    package let issuer: String
    /// The names that it is good for, as OpenSSL lists them: `DNS:push.example.com, IP Address:192.0.2.1`.
    package let names: String
    /// Seconds since 1970; nil where the date cannot be read.
    package let notBefore: Int64?
    /// Seconds since 1970; nil where the date cannot be read.
    package let notAfter: Int64?

    /// Texts are cut after so many characters: the certificate's author chose them.
    static let maximumLength = 200

    /// A certificate whose texts are known already, as in tests.
    package init(subject: String, issuer: String, names: String = "", notBefore: Int64?, notAfter: Int64?) {
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// - Parameter lines: `Name:Value`, as libcurl gives them (`CURLINFO_CERTINFO(3)`).
    init(lines: [String]) {
        func value(_ name: String) -> String {
            let line = lines.first { $0.hasPrefix(name + ":") } ?? ""
            return String(line.dropFirst(name.count + 1).prefix(Self.maximumLength))
        }
        self.init(
            subject: value("Subject"), issuer: value("Issuer"), names: value("X509v3 Subject Alternative Name"),
            notBefore: Self.seconds(value("Start date")), notAfter: Self.seconds(value("Expire date")))
    }

    /// The server's own, which is the first of those that it sends; nil where the transfer has seen none, as on a
    /// connection that was there before.
    init?(of easy: UnsafeMutableRawPointer) {
        var pointer: UnsafeMutableRawPointer?
        guard curl_easy_getinfo_pointer(easy, CURLINFO_CERTINFO, &pointer) == CURLE_OK,
            let chain = pointer?.assumingMemoryBound(to: curl_certinfo.self).pointee, chain.num_of_certs > 0
        else { return nil }
        var lines: [String] = []
        var next = chain.certinfo?.pointee
        while let line = next?.pointee {
            if let text = line.data { lines.append(String(cString: text)) }
            next = line.next
        }
        self.init(lines: lines)
    }

    /// OpenSSL writes `Feb  9 15:26:25 2027 GMT` (`ASN1_TIME_print(3)`): `asctime` of HTTP without the day's name.
    private static func seconds(_ date: String) -> Int64? {
        guard date.hasSuffix(" GMT") else { return nil }
        return HTTPDate.seconds("Day \(date.dropLast(4))", now: 0)
    }
}
