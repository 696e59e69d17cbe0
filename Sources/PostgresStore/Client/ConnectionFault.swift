// SPDX-License-Identifier: Apache-2.0

/// Why no connection came about, in our own words: libpq's name the host, the user and the database, and reach logs.
enum ConnectionFault {
    /// What is in libpq's or the server's message, and what we make of it; the first that fits.
    private static let known: [(sign: String, reason: String)] = [
        (sign: "password authentication failed", reason: "the server refuses the user or the password"),
        (sign: "no password supplied", reason: "the server wants a password, and the URL has none"),
        (sign: "no pg_hba.conf entry", reason: "the server lets no such user in from this host (pg_hba.conf)"),
        (sign: "authentication failed", reason: "the server refuses the user"),
        (sign: "role \"", reason: "the server does not know the user"),
        (sign: "database \"", reason: "the server has no such database"),
        (sign: "permission denied for database", reason: "the user may not use the database"),
        (sign: "too many clients", reason: "the server has no connection left (max_connections)"),
        (sign: "remaining connection slots", reason: "the server has no connection left (max_connections)"),
        (sign: "too many connections", reason: "the server has no connection left for the user or the database"),
        (sign: "starting up", reason: "the server is starting"),
        (sign: "shutting down", reason: "the server is stopping"),
        (sign: "recovery mode", reason: "the server is recovering"),
        (sign: "session is read-only", reason: "no server of the URL takes writes"),
        (sign: "does not match host name", reason: "TLS: the server's certificate is for another name"),
        (sign: "root certificate", reason: "TLS: the file of sslrootcert is not there, or holds no certificate"),
        (sign: "certificate verify failed", reason: "TLS: no authority of sslrootcert vouches for the server today"),
        (sign: "certificate", reason: "TLS: a certificate is not accepted"),
        (sign: "SSL", reason: "TLS: no agreement with the server"),
        (sign: "could not translate host name", reason: "the server's name is not known"),
        (sign: "Connection refused", reason: "nothing listens at the server's address"),
        (sign: "No such file", reason: "no server has the socket"),
        (sign: "Permission denied", reason: "the server's socket may not be used by this user"),
        (sign: "timeout", reason: "the server does not answer"),
        // The system's word, when `tcp_user_timeout` is over.
        (sign: "timed out", reason: "the server does not answer"),
        (sign: "invalid port number", reason: "a port of the URL is invalid"),
        (sign: "could not match", reason: "the URL names more of one than of the other: hosts, hostaddrs, ports"),
    ]

    /// - Parameter options: the names that libpq has for them; what is in a message is only compared with them.
    static func reason(_ message: String, options: [String] = []) -> String {
        let option = options.first {
            message.contains("invalid \($0) value") || message.contains("connection option \"\($0)\"")
        }
        if let option { return "libpq does not take the value of the URL's option \(option)" }
        return known.first { message.contains($0.sign) }?.reason ?? "no connection to the server"
    }
}
