// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Who may connect to a socket file: who may write to it and search every folder above (unix(7)). Access control lists
/// are not looked at.
struct SocketAccess: Equatable {
    /// What keeps somebody out.
    enum Obstacle: Equatable {
        case folder(String, FileMode)
        case socket(FileMode)
    }

    /// The folders above, the highest first, and the socket; those that can be looked at.
    let folders: [(path: String, mode: FileMode)]
    let socket: FileMode?

    static func == (one: SocketAccess, other: SocketAccess) -> Bool {
        one.socket == other.socket
            && one.folders.elementsEqual(other.folders) { $0.path == $1.path && $0.mode == $1.mode }
    }

    init(folders: [(path: String, mode: FileMode)], socket: FileMode?) {
        self.folders = folders
        self.socket = socket
    }

    init(path: String) {
        var folders = ["/"]
        for part in path.split(separator: "/").dropLast() {
            folders.append(folders.count == 1 ? "/\(part)" : "\(folders.last ?? "")/\(part)")
        }
        self.init(folders: folders.compactMap { path in FileMode(path).map { (path, $0) } }, socket: FileMode(path))
    }

    func obstacle(for account: Account) -> Obstacle? {
        for (path, mode) in folders where !account.may(1, mode) { return .folder(path, mode) }
        guard let socket, !account.may(2, socket) else { return nil }
        return .socket(socket)
    }
}
