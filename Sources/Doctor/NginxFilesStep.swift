// SPDX-License-Identifier: Apache-2.0

/// What can be said of nginx without knowing where the site is: whether its files lead to the service.
package struct NginxFilesStep: Sendable {
    private let files: NginxFiles
    private let socket: String

    /// - Parameter socket: where the service answers, as a path.
    package init(_ files: NginxFiles, socket: String) {
        self.files = files
        self.socket = socket
    }

    package func findings() -> [Finding] {
        let ask = "--url https://push.example.com, the address that apps call, asks it"
        guard !files.isEmpty else { return [.skipped("its files are not here to be read; \(ask)")] }
        var findings: [Finding] = []
        if socket.hasPrefix("/"), !files.sockets.isEmpty, !files.sockets.contains(socket) {
            findings.append(
                .wrong(
                    "nginx looks for the service at \(files.sockets.joined(separator: ", ")), and it is at \(socket)",
                    cure: "`server unix:\(socket);` in \(files.upstream), then `systemctl reload nginx`"))
        }
        if files.includer == nil {
            findings.append(
                .warning(
                    "no file of nginx's includes snippets/app-backend.conf",
                    cure: "`include snippets/app-backend.conf;` in the server { } that shall lead to the service"))
        }
        return findings + (findings.isEmpty ? [.skipped("its files lead to \(socket); \(ask)")] : [])
    }
}
