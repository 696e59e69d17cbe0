// SPDX-License-Identifier: Apache-2.0
internal import FastCGI
internal import Glibc

extension SocketStep {
    /// Why the service did not answer.
    func judge(_ failure: FastCGIProbe.Failure) -> Finding {
        switch failure {
        case .missing: return .wrong("\(name): there is no such socket", cure: missingCure)
        case .forbidden:
            return .warning(
                "\(name): this user may not connect, so whether the service answers was not seen",
                cure: "run it as root, or as \(webServerName)")
        case .refused where !isSocket:
            return .wrong("\(name) is not a socket", cure: "remove it; \(missingCure)")
        case .refused: return .wrong("\(name): nobody listens", cure: isSystemds ? unitCure : serviceCure)
        case .timedOut:
            return .wrong(
                "\(name): connections are taken, and no answer comes",
                cure: "`systemctl status app-backend.service`; `journalctl -u app-backend`")
        case .hungUp:
            return .wrong("\(name): the connection ended before the answer", cure: "`journalctl -u app-backend`")
        case .notFastCGI, .tooLarge:
            return .wrong(
                "\(name): something else than the service answers",
                cure: "--socket, `listen`, or ListenStream= in app-backend.socket: a path that nobody else has")
        case .system(let reason): return .wrong("\(name): \(reason)", cure: "--socket or `listen`")
        }
    }

    private var isSocket: Bool {
        guard case .unix(let path) = address else { return true }
        return FileMode(path)?.isSocket ?? true
    }

    private var unitCure: String {
        "`systemctl status app-backend.socket`; `systemctl restart app-backend.socket`"
    }

    private var serviceCure: String { "`systemctl status app-backend.service`: is it started?" }

    private var missingCure: String {
        isSystemds
            ? "`systemctl enable --now app-backend.socket`; ListenStream= there must name it (--socket: another path)"
            : serviceCure + " It makes the socket that `listen` names"
    }

    /// Whether nginx may connect, whoever this process is.
    func judgeAccess() -> [Finding] {
        guard case .unix(let path) = address else { return [] }
        let access = SocketAccess(path: path)
        guard access.socket?.isSocket == true else { return [] }
        guard let webServer else {
            return [
                .warning(
                    "there is no user \(webServerName) here, so whether nginx may connect was not seen",
                    cure: "--web-server-user: `user` in /etc/nginx/nginx.conf")
            ]
        }
        switch access.obstacle(for: webServer) {
        case nil: return []
        case .folder(let folder, let mode):
            return [
                .wrong(
                    "\(webServer.name) may not enter \(folder) (mode \(mode.octal)), and so not connect to \(name)",
                    cure:
                        "`chmod o+x \(folder)`, or \(isSystemds ? "ListenStream= in app-backend.socket" : "`listen`"): "
                        + "a place below /run")
            ]
        case .socket(let mode):
            return [
                .wrong(
                    "\(webServer.name) may not connect to \(name) (mode \(mode.octal))",
                    cure: isSystemds
                        ? "SocketGroup=\(webServer.name) and SocketMode=0660 in app-backend.socket, then "
                            + "`systemctl daemon-reload && systemctl restart app-backend.socket`"
                        : "Group=\(webServer.name) for whoever starts the service, which makes the socket 0660")
            ]
        }
    }
}
