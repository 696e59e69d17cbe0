// SPDX-License-Identifier: Apache-2.0
import Text

/// What a `CurlTransport` shows to a server that asks who calls: a certificate and its private key, both in one file.
package struct ClientCertificate: Sendable {
    /// A PEM file, or a PKCS #12 container where its name ends in `.p12` or `.pfx`.
    package let file: String
    /// Of the key or the container.
    package let password: Secret?

    package init(file: String, password: Secret? = nil) {
        self.file = file
        self.password = password
    }

    /// `CURLOPT_SSLCERTTYPE(3)`.
    var kind: String {
        let name = file.lowercased()
        return name.hasSuffix(".p12") || name.hasSuffix(".pfx") ? "P12" : "PEM"
    }
}
