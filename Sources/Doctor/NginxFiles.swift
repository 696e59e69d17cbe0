// SPDX-License-Identifier: Apache-2.0
internal import CPlatform
internal import FileStore
internal import Glibc
internal import Store

/// What nginx's own files say, as far as a look at their lines can tell: enough to name a file to an operator. nginx
/// itself is not started, and only what may be read is.
package struct NginxFiles: Sendable {
    package static let standardFolder = "/etc/nginx"
    /// Where Debian, nginx's own packages and Alpine keep them, below the folder.
    private static let places = ["", "/conf.d", "/sites-enabled", "/http.d", "/sites"]
    /// Files of one place that are read.
    private static let maximumFiles = 500
    /// Bytes of one that are read.
    private static let maximumBytes = 1 << 20

    private struct Directive {
        let file: String
        let words: [Substring]
    }

    private let folder: String
    private var directives: [Directive] = []

    /// - Parameter folder: without a final slash.
    package init(folder: String = Self.standardFolder) {
        self.folder = folder
        for place in Self.places {
            let names = FolderNames.list(folder + place, maximum: Self.maximumFiles).sorted()
            for name in names where place == "/sites-enabled" || name.hasSuffix(".conf") {
                read("\(folder)\(place)/\(name)")
            }
        }
    }

    /// Whether there was anything to read.
    var isEmpty: Bool { directives.isEmpty }

    /// Who nginx runs as.
    package var user: String? { first("user").map { String($0.words[1]) } }

    /// The sockets that `server unix:PATH` names in the file that is shipped for it.
    var sockets: [String] {
        directives.filter { $0.file == upstream && $0.words[0] == "server" && $0.words[1].hasPrefix("unix:") }
            .map { String($0.words[1].dropFirst("unix:".count)) }
    }

    /// The file that includes the snippet.
    var includer: String? {
        directives.first { directive in
            directive.words[0] == "include"
                && ["app-backend.conf", "app-backend-api.conf"].contains {
                    directive.words[1].hasSuffix("snippets/" + $0)
                }
        }?.file
    }

    /// What stands in the API's location.
    var api: String { "\(folder)/snippets/app-backend-api.conf" }
    var monitor: String { "\(folder)/snippets/app-backend-monitor.conf" }
    var upstream: String { "\(folder)/conf.d/app-backend-upstream.conf" }

    /// Names the `server { }` of a host, and where it stands.
    func server(of host: String) -> String {
        let file = directives.first { $0.words[0] == "server_name" && $0.words.dropFirst().contains(host[...]) }?.file
        return "the server { } of \(host) (\(file ?? "`nginx -T` shows where"))"
    }

    private func first(_ name: String) -> Directive? { directives.first { $0.words[0] == name } }

    /// Keeps every `name value …;` that stands on a line of its own, or begins one.
    private mutating func read(_ path: String) {
        let file = platform_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard file >= 0 else { return }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < Self.maximumBytes {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let statement = line.prefix { $0 != "#" && $0 != ";" }
            let words = statement.split { $0 == " " || $0 == "\t" }
            if words.count > 1 { directives.append(Directive(file: path, words: words)) }
        }
    }
}
