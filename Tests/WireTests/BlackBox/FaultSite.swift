// SPDX-License-Identifier: Apache-2.0
import Curl
import Foundation
import Glibc
import Support

/// The product with its built-in hub behind an nginx, on a disk and a clock that fail when they are told to
/// (Tests/FaultInjection).
struct FaultSite: ServedSite {
    let scratch: ScratchFolder
    let backend: BackendProcess
    let door: DoorSite
    let secrets = Secrets()

    var authority: String { door.authority }
    var transport: CurlTransport { door.transport }
    var store: String { scratch.path("disk/store") }

    struct NoLibrary: Error { let reason: String }

    /// Runs `body` with a site whose store is in `disk/store` of the folder, and ends it.
    /// - Parameters:
    ///   - name: of the responder; several may be on one store.
    ///   - environment: `NAME=value` each, besides what makes the faults.
    ///   - keys: more members of the configuration.
    static func run(
        _ name: String = "faulty", in scratch: ScratchFolder, environment: [String] = [], keys: String = "",
        _ body: (FaultSite) throws -> Void
    ) throws {
        _ = try scratch.makeFolder("disk")
        let faults = try scratch.makeFolder("faults-" + name)
        let backend = try BackendProcess(
            name, in: scratch,
            environment: ["LD_PRELOAD=\(try library(in: scratch))", "FAULTS=\(faults)"] + environment,
            keys: #""store": { "path": "\#(scratch.path("disk/store"))" }, "workers": 8\#(keys)"#)
        defer { backend.stop() }
        try DoorSite.run(before: backend.socket, in: scratch, name: "nginx-" + name) { door in
            try body(FaultSite(scratch: scratch, backend: backend, door: door))
        }
    }

    func run(_ arguments: [String], input: String) throws -> Program.Outcome {
        try Program.run(Program.appBackend, arguments + ["--config", backend.configuration], input: .text(input))
    }

    /// From now on; see faults.c.
    func begin(_ fault: String, _ text: String = "") throws {
        // Written aside and renamed: the program must not read half of it.
        let made = try scratch.write(text, to: "fault-\(UUID().uuidString)")
        guard rename(made, scratch.path(file(fault))) == 0 else { throw ScratchFolder.NotMade(code: errno) }
    }

    func end(_ fault: String) {
        unlink(scratch.path(file(fault)))
    }

    private func file(_ fault: String) -> String { "faults-\(backend.name)/\(fault)" }

    /// What is preloaded, and looks for its faults in the folder that `FAULTS` names.
    static func library(in scratch: ScratchFolder) throws -> String {
        let library = scratch.path("faults.so")
        if scratch.has("faults.so") { return library }
        let made = try Program.run(
            "/usr/bin/gcc",
            [
                "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library,
                Program.root + "/Tests/FaultInjection/faults.c",
            ])
        guard made.status == 0 else { throw NoLibrary(reason: made.errors) }
        return library
    }
}
