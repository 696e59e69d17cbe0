// SPDX-License-Identifier: Apache-2.0
import Foundation
import Support

/// A certificate for localhost with a beginning and an end of one's own; `openssl req` makes none that has ended.
struct DatedCertificate {
    let folder: ScratchFolder

    /// - Parameter start: days from today, as `end`.
    init(from start: Double, to end: Double) throws {
        folder = try ScratchFolder()
        try folder.write(
            """
            [ca]
            default_ca = own
            [own]
            database = \(folder.path("index"))
            new_certs_dir = \(folder.path)
            default_md = sha256
            rand_serial = yes
            policy = names
            x509_extensions = extensions
            [names]
            commonName = supplied
            [extensions]
            subjectAltName = DNS:localhost
            basicConstraints = critical,CA:FALSE
            extendedKeyUsage = serverAuth
            """, to: "ca.cnf")
        try folder.write("", to: "index")
        try openssl(
            [
                "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-subj",
                "/CN=localhost",
            ]
                + ["-keyout", folder.path("key.pem"), "-out", folder.path("request.pem")])
        try openssl(
            [
                "ca", "-batch", "-notext", "-selfsign", "-config", folder.path("ca.cnf"), "-keyfile",
                folder.path("key.pem"),
            ]
                + ["-in", folder.path("request.pem"), "-out", folder.path("cert.pem")]
                + ["-startdate", Self.date(start), "-enddate", Self.date(end)])
    }

    private func openssl(_ arguments: [String]) throws {
        let made = try Program.run("/usr/bin/openssl", arguments)
        guard made.status == 0 else { throw FrontDoor.NotStarted(log: made.errors) }
    }

    private static func date(_ days: Double) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "UTC")
        format.dateFormat = "yyyyMMddHHmmss'Z'"
        return format.string(from: Date().addingTimeInterval(days * 86_400))
    }
}
