// SPDX-License-Identifier: Apache-2.0
import Text

/// What a `CurlTransport` shows to a server that asks who calls: a certificate and its private key, both in one file.
package struct ClientCertificate: Sendable {
    /// What the certificate says of itself.
    package struct Content: Sendable {
        /// Its end, in seconds since 1970; nil when the date cannot be read.
        package let notAfter: Int64?
        let topicLists: [[UInt8]]

        /// Whether Apple's extensions list the topic; true of a certificate without such extensions.
        package func isFor(topic: String) -> Bool {
            // UTF8String of DER, with a length in one byte; a longer topic is not looked for.
            guard let length = UInt8(exactly: topic.utf8.count), length < 128, !topicLists.isEmpty else { return true }
            let element = [0x0C, length] + topic.utf8
            return topicLists.contains { $0.contains(element) }
        }
    }

    /// A PEM file, or a PKCS #12 container where its name ends in `.p12` or `.pfx`.
    package let file: String
    /// Of the key or the container.
    package let password: Secret?

    package init(file: String, password: Secret? = nil) {
        self.file = file
        self.password = password
    }

    /// Opens the file as each handshake does.
    /// - Throws: `ClientCertificateError`, when no handshake could show the certificate. One that has ended is no error.
    package func read() throws(ClientCertificateError) -> Content {
        let file = try CertificateFile(self)
        return Content(notAfter: file.notAfter, topicLists: file.topicLists)
    }

    var isContainer: Bool {
        let name = file.lowercased()
        return name.hasSuffix(".p12") || name.hasSuffix(".pfx")
    }

    /// `CURLOPT_SSLCERTTYPE(3)`.
    var kind: String { isContainer ? "P12" : "PEM" }
}
