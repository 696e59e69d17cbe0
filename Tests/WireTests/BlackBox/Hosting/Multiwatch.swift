// SPDX-License-Identifier: Apache-2.0
import Support

import class System.Lock

/// spawn-fcgi and multiwatch, as the shipped script starts them, behind the host's nginx.
final class Multiwatch: HostingServer {
    private let home: HostedHome
    private let process = ServerProcess()
    private let door: Lock<FrontDoor?>

    var port: UInt16 { door.withLock { $0?.port } ?? 0 }
    private var socket: String { home.folder + "/app-backend.sock" }

    init(_ home: HostedHome) throws {
        self.home = home
        door = Lock(nil)
    }

    func start() throws {
        try home.own()
        try process.start {
            try home.start("\(home.folder)/multiwatch.sh", [], log: "app-backend/app-backend.log")
        } log: {
            home.logs().values.joined()
        } isReady: {
            LoopbackSocket.answers(socket)
        }
        // nginx is the host's and goes on when what is behind it ends.
        try door.withLock { door in
            if door == nil {
                door = try FrontDoor(
                    FrontDoor.Changes(sockets: [socket]), certificates: home.certificates,
                    folder: home.path + "/nginx")
            }
        }
    }

    func stop() { process.stop() }

    func end() {
        door.withLock { $0?.stop() }
        stop()
    }
}
