// SPDX-License-Identifier: Apache-2.0
import Support

/// Debian's lighttpd with the configuration that is shipped, on another port.
final class Lighttpd: HostingServer {
    static let program = "/usr/sbin/lighttpd"

    private let reserved: LoopbackPort
    private let home: HostedHome
    private let process = ServerProcess()

    var port: UInt16 { reserved.number }

    init(_ home: HostedHome) throws {
        reserved = try LoopbackPort()
        self.home = home
        let port = reserved.number
        try home.ship("lighttpd.conf", to: "app-backend/lighttpd.conf", mode: 0o600) { text in
            text.replacing("server.port = 8443", with: "server.port = \(port)")
                .replacing(#"server.bind = "0.0.0.0""#, with: #"server.bind = "127.0.0.1""#)
        }
    }

    func start() throws {
        try home.own()
        try process.start {
            try home.start(Self.program, ["-D", "-f", "\(home.folder)/lighttpd.conf"], log: "app-backend/start.log")
        } log: {
            home.logs().values.joined()
        } isReady: {
            LoopbackSocket.answers(port: port)
        }
    }

    func stop() { process.stop() }
}
