// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support

/// Debian's Apache with mod_fcgid, as a host configures it: what our `.htaccess` finds around itself.
final class Apache: HostingServer {
    static let program = "/usr/sbin/apache2"
    static let modules = "/usr/lib/apache2/modules"

    /// What a host allows, and how long its mod_fcgid keeps a process; the defaults of that are minutes and hours.
    struct Habits {
        /// What a `.htaccess` may say; no host that lets programs run allows less.
        var overrides = "FileInfo Indexes Options=ExecCGI,Indexes"
        /// Directives of mod_fcgid's.
        var directives = ""

        static let usual = Habits()
        static let generous = Habits(overrides: "All")
        /// A process is ended after a second, however much there is to do, and none is kept.
        static let restless = Habits(
            directives: """
                FcgidProcessLifeTime 1
                FcgidIdleTimeout 1
                FcgidMinProcessesPerClass 0
                FcgidIdleScanInterval 1
                FcgidZombieScanInterval 1
                """)
    }

    private let ports: (tls: LoopbackPort, plain: LoopbackPort)
    private let home: HostedHome
    private let process = ServerProcess()

    var port: UInt16 { ports.tls.number }
    /// Where it answers without TLS.
    var plainPort: UInt16 { ports.plain.number }

    init(_ home: HostedHome, habits: Habits = .usual) throws {
        self.home = home
        ports = (try LoopbackPort(), try LoopbackPort())
        try home.makeFolder("apache")
        try home.write(configuration(habits), to: "apache/httpd.conf")
    }

    func start() throws {
        try home.own()
        try process.start {
            try home.start(Self.program, ["-f", configurationFile, "-D", "FOREGROUND"], log: "apache/start.log")
        } log: {
            home.logs().filter { $0.key.hasPrefix("apache/") }.values.joined()
        } isReady: {
            LoopbackSocket.answers(port: port)
        }
    }

    func stop() { process.stop() }

    /// `apachectl graceful`: new processes take over, and mod_fcgid's are ended at once.
    /// - Returns: whether it was done within a deadline.
    func restartGracefully() -> Bool {
        let count = restarts
        process.signal(SIGUSR1)
        return Deadline.poll(seconds: 60) { restarts > count }
    }

    private var restarts: Int { lines { $0.contains("resuming normal operations") } }

    /// mod_fcgid gives those whom it asks to end a few seconds.
    var killed: Int {
        lines { $0.contains("terminating forcefully") || $0.contains("graceful kill fail, sending SIGKILL") }
    }

    private func lines(_ isWanted: (Substring) -> Bool) -> Int {
        (home.logs()["apache/error.log"] ?? "").split(separator: "\n").count(where: isWanted)
    }

    private var configurationFile: String { home.path + "/apache/httpd.conf" }

    private func configuration(_ habits: Habits) -> String {
        let modules = [
            "mpm_event", "authz_core", "mime", "dir", "rewrite", "setenvif", "env", "headers", "filter", "deflate",
            "ssl",
            "socache_shmcb", "fcgid",
        ].map { "LoadModule \($0)_module \(Self.modules)/mod_\($0).so" }
        return modules.joined(separator: "\n") + """

            ServerRoot \(home.path)/apache
            DefaultRuntimeDir \(home.path)/apache
            Mutex file:\(home.path)/apache default
            PidFile \(home.path)/apache/pid
            ErrorLog \(home.path)/apache/error.log
            LogLevel notice
            ServerName localhost
            TypesConfig /etc/mime.types
            Listen 127.0.0.1:\(port)
            Listen 127.0.0.1:\(plainPort)
            DocumentRoot \(home.web)
            FcgidIPCDir \(home.path)/apache
            FcgidProcessTableFile \(home.path)/apache/processes
            # Patience for a machine that is busy with something else. By default a connection ends after 5 s or 100 requests, just
            # when a client may send the next one.
            KeepAliveTimeout 300
            MaxKeepAliveRequests 0
            FcgidConnectTimeout 60
            FcgidIOTimeout 300
            \(habits.directives)
            # As generous hosts do: everything that is text is compressed, and has pages for every error.
            AddOutputFilterByType DEFLATE text/html application/json application/problem+json
            ErrorDocument 401 "the host's own page"
            ErrorDocument 404 "the host's own page"
            ErrorDocument 405 "the host's own page"
            ErrorDocument 413 "the host's own page"
            <Directory \(home.web)>
                Options SymLinksIfOwnerMatch
                AllowOverride \(habits.overrides)
                Require all granted
            </Directory>
            <VirtualHost 127.0.0.1:\(port)>
                SSLEngine on
                SSLCertificateFile \(home.certificates)/cert.pem
                SSLCertificateKeyFile \(home.certificates)/key.pem
            </VirtualHost>

            """
    }
}
