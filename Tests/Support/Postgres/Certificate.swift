// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A certificate for a server of that name, which is its own authority; it goes with the last reference to it.
package final class Certificate: Sendable {
    private let folder: String

    /// Files of PEM; the first is also what a client gives as `sslrootcert`.
    package var file: String { folder + "/certificate.pem" }
    var key: String { folder + "/key.pem" }

    package init(for name: String) throws {
        folder = try PostgresServer.makeFolder()
        let arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "30",
            "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)", "-keyout", key, "-out", file,
        ]
        try ChildProcess("/usr/bin/openssl", arguments).succeed(as: "openssl")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}
