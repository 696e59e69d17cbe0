// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Doctor

/// nginx's files as an operator writes them.
struct NginxFilesTests {
    /// A folder laid out as Debian's.
    private static func with(_ texts: [String: String], _ body: (String, NginxFiles) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nginx-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in texts {
            let file = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        try body(folder.path, NginxFiles(folder: folder.path))
    }

    private static let upstream = "upstream app_backend {\n    server unix:/run/a.sock;\n}\n"

    @Test func `user, sockets, server and include are found`() throws {
        let site = "server {\n\tserver_name a.example\tb.example;\n  include snippets/app-backend.conf; # ours\n}"
        try Self.with([
            "nginx.conf": "# user nobody;\nuser web;\n", "conf.d/app-backend-upstream.conf": Self.upstream,
            "sites-enabled/default": site, "sites-enabled/other": "server_name c.example;",
        ]) { folder, files in
            #expect(files.user == "web" && files.sockets == ["/run/a.sock"])
            #expect(files.includer == "\(folder)/sites-enabled/default")
            #expect(files.server(of: "b.example").contains("\(folder)/sites-enabled/default"))
            #expect(files.server(of: "d.example").contains("nginx -T"))
            #expect(NginxFilesStep(files, socket: "/run/a.sock").findings().map(\.verdict) == [.skipped])
            let other = NginxFilesStep(files, socket: "/run/b.sock").findings()
            #expect(other.map(\.verdict) == [.wrong])
            #expect(other.first?.cure?.contains("`server unix:/run/b.sock;` in \(folder)/conf.d/") == true)
        }
    }

    @Test func `a comment includes nothing`() throws {
        let text = "server {\n  # include snippets/app-backend.conf;\n}"
        try Self.with(["conf.d/default.conf": text, "conf.d/app-backend-upstream.conf": Self.upstream]) { _, files in
            let found = NginxFilesStep(files, socket: "/run/a.sock").findings()
            #expect(found.map(\.verdict) == [.warning])
        }
    }

    @Test func `no folder is no trouble`() {
        let files = NginxFiles(folder: "/nowhere")
        #expect(
            files.user == nil && NginxFilesStep(files, socket: "/run/a.sock").findings().map(\.verdict) == [.skipped])
    }
}
