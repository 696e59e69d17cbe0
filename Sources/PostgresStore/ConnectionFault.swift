// SPDX-License-Identifier: Apache-2.0

/// Why no connection came about, in our own words: libpq's name the host, the user and the database, and reach logs.
enum ConnectionFault {
    /// What stands in libpq's or the server's message, and what we make of it; the first that fits.
    private static let known: [(sign: String, reason: String)] = [
        ("password authentication failed", "the server refuses the user or the password"),
        ("no password supplied", "the server wants a password, and the URL has none"),
        ("no pg_hba.conf entry", "the server lets no such user in from this host (pg_hba.conf)"),
        ("authentication failed", "the server refuses the user"),
        ("role \"", "the server does not know the user"),
        ("database \"", "the server has no such database"),
        ("permission denied for database", "the user may not use the database"),
        ("too many clients", "the server has no connection left (max_connections)"),
        ("remaining connection slots", "the server has no connection left (max_connections)"),
        ("too many connections", "the server has no connection left for the user or the database"),
        ("starting up", "the server is starting"),
        ("shutting down", "the server is stopping"),
        ("recovery mode", "the server is recovering"),
        ("session is read-only", "no server of the URL takes writes"),
        ("certificate", "TLS: the server's certificate is not accepted"),
        ("SSL", "TLS: no agreement with the server"),
        ("could not translate host name", "the server's name is not known"),
        ("Connection refused", "nothing listens at the server's address"),
        ("No such file", "no server has the socket"),
        ("Permission denied", "the server's socket may not be used by this user"),
        ("timeout", "the server does not answer"),
    ]

    static func reason(_ message: String) -> String {
        known.first { message.contains($0.sign) }?.reason ?? "no connection to the server"
    }
}
