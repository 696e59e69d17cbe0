// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A web server that a shared host has, with the product behind it.
protocol HostingServer: Sendable {
    /// The port that speaks TLS.
    var port: UInt16 { get }

    /// Starts it, again too, on the same port.
    func start() throws

    /// Ends it as its operator does, and waits for it: whatever it is that starts the program's processes.
    func stop()

    /// Ends all that was started.
    func end()

    /// How many of the program's processes it has lost its patience with, and killed.
    var killed: Int { get }
}

extension HostingServer {
    var killed: Int { 0 }

    func end() { stop() }
}

/// The servers that the product is shown behind.
enum HostingKind: String, CaseIterable, Sendable {
    case apache, lighttpd, multiwatch

    /// What must be there, and Debian's package of it.
    private var parts: [(file: String, package: String)] {
        switch self {
        case .apache:
            [(Apache.program, "apache2-bin"), ("\(Apache.modules)/mod_fcgid.so", "libapache2-mod-fcgid")]
        case .lighttpd:
            [
                (Lighttpd.program, "lighttpd"),
                ("/usr/lib/lighttpd/mod_openssl.so", "lighttpd-mod-openssl"),
            ]
        case .multiwatch: [("/usr/bin/multiwatch", "multiwatch"), ("/usr/bin/spawn-fcgi", "spawn-fcgi")]
        }
    }

    /// Packages of it that are not installed.
    var missing: [String] { parts.filter { access($0.file, F_OK) != 0 }.map(\.package) }

    static let installed = allCases.filter { $0.missing.isEmpty && Program.nginx != nil }
    static let missing = allCases.flatMap(\.missing)

    func makeServer(_ home: HostedHome) throws -> any HostingServer {
        switch self {
        case .apache: try Apache(home)
        case .lighttpd: try Lighttpd(home)
        case .multiwatch: try Multiwatch(home)
        }
    }
}
