// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import HTTP
import HTTPTypes
import JSON
import Support
import Testing

extension WireTests {
    /// What a responder and its service manager say to each other, and what a reload changes.
    struct ServiceStories {
        private func keys(_ folder: ScratchFolder, _ more: String = "") -> String {
            "\"store\": { \"path\": \"\(folder.path("store"))\" }\(more.isEmpty ? "" : ", " + more)"
        }

        @Test func `readiness, progress and the end are told to the service manager`() throws {
            let folder = try ScratchFolder()
            let manager = try NotifySocket(in: folder)
            let backend = try BackendProcess(
                "told", in: folder,
                environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=1200000"], keys: keys(folder))
            #expect(manager.wait(for: "READY=1") != nil)
            // Again and again, as long as it makes progress.
            for _ in 1...3 { #expect(manager.wait(for: "WATCHDOG=1", after: manager.assignments().count) != nil) }
            #expect(manager.wait(for: "STATUS=Serving: 0 of 64 workers busy") != nil)
            #expect(!manager.assignments().contains("STOPPING=1"))
            #expect(backend.stop() == 0)
            #expect(manager.wait(for: "STOPPING=1") != nil)
        }

        @Test func `a start that migrates the store asks the service manager for time`() throws {
            let folder = try ScratchFolder()
            try BackendProcess("before", in: folder, keys: keys(folder)).stop()
            let settings = URL(filePath: folder.path("store/store.json"))
            let text = try String(contentsOf: settings, encoding: .utf8)
            let older = text.replacing(#""format":3"#, with: #""format":2"#)
            try older.write(to: settings, atomically: true, encoding: .utf8)
            let manager = try NotifySocket(in: folder)
            let backend = try BackendProcess(
                "told", in: folder, environment: ["NOTIFY_SOCKET=\(manager.path)"], keys: keys(folder))
            #expect(manager.wait(for: "READY=1") != nil)
            let heard = manager.assignments()
            let asked = try #require(heard.firstIndex(of: "EXTEND_TIMEOUT_USEC=660000000"))
            #expect(try asked < #require(heard.firstIndex(of: "READY=1")))
            #expect(backend.stop() == 0)
        }

        @Test func `a manager's socket may have a name instead of a path`() throws {
            let folder = try ScratchFolder()
            // No process listens there: the responder still serves.
            let backend = try BackendProcess(
                "abstract", in: folder, environment: ["NOTIFY_SOCKET=@app-backend-\(UUID().uuidString)"],
                keys: keys(folder))
            #expect(backend.stop() == 0)
        }

        @Test func `SIGHUP reads the configuration again, and a wrong one changes nothing`() throws {
            let folder = try ScratchFolder()
            let manager = try NotifySocket(in: folder)
            let backend = try BackendProcess(
                "reloaded", in: folder, environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=1200000"],
                keys: keys(folder, #""auth": { "realm": "First" }, "workers": 3"#))
            try FrontDoor.makeCertificate(in: try folder.makeFolder("tls"))
            let door = try FrontDoor(
                FrontDoor.Changes(sockets: [backend.socket]), certificates: folder.path("tls"),
                folder: folder.path("nginx"))
            defer { door.stop() }
            let visitor = try Visitor(door, certificates: folder.path("tls"))
            #expect(try visitor.realm() == "First")
            #expect(manager.wait(for: "READY=1") != nil)

            try backend.configure(keys: keys(folder, #""auth": { "realm": "Second" }, "workers": 5"#))
            var before = manager.assignments().count
            backend.signal(SIGHUP)
            #expect(manager.wait(for: "READY=1", after: before) != nil)
            #expect(manager.assignments().contains("RELOADING=1"))
            #expect(try visitor.realm() == "Second")
            #expect(backend.log.contains("reloaded the configuration users=0"))
            // Threads are not made while it runs.
            #expect(backend.log.contains("warning: reload: a restart is needed for workers"))
            let waits = manager.wait(
                for: "STATUS=Serving: 0 of 3", after: before, where: { $0.hasSuffix(" for workers") })
            #expect(waits != nil)

            try backend.configure(keys: keys(folder, #""auth": { "realm": "Thi\"rd" }, "wrokers": 5"#))
            before = manager.assignments().count
            backend.signal(SIGHUP)
            #expect(manager.wait(for: "READY=1", after: before) != nil)
            #expect(try visitor.realm() == "Second")
            #expect(backend.log.contains("error: reload: configuration: wrokers: there is no such key"))
            #expect(backend.log.contains("error: reload: configuration: auth.realm: "))
            let refused = manager.wait(for: "STATUS=Serving: 0 of 3", after: before, where: { $0.contains("refused") })
            #expect(refused != nil)

            try backend.configure(keys: keys(folder, #""auth": { "realm": "Fourth" }, "workers": 3"#))
            before = manager.assignments().count
            backend.signal(SIGHUP)
            #expect(manager.wait(for: "READY=1", after: before) != nil)
            #expect(try visitor.realm() == "Fourth")
            let plain = manager.wait(
                for: "STATUS=Serving: 0 of 3", after: before, where: { $0.hasSuffix("requests answered") })
            #expect(plain != nil)
            #expect(backend.stop() == 0)
        }

        @Test func `the command that reloads exits with what the service made of it`() throws {
            let folder = try ScratchFolder()
            let backend = try BackendProcess("told", in: folder, keys: keys(folder, #""auth": { "realm": "First" }"#))
            func reload() throws -> Program.Outcome {
                let arguments = ["reload", "--process", "\(backend.id)", "--socket", backend.socket]
                return try Program.run(Program.appBackend, arguments)
            }
            try backend.configure(keys: keys(folder, #""auth": { "realm": "Second" }"#))
            #expect(try reload().status == 0)
            #expect(backend.log.contains("reloaded the configuration users=0"))
            try backend.configure(keys: keys(folder, #""wrokers": 5"#))
            let refused = try reload()
            #expect(refused.status == 1)
            #expect(
                refused.errors.contains(
                    "reload: the former configuration stays: configuration: wrokers: there is no such key"))
            #expect(backend.stop() == 0)
        }

        @Test func `reloads under load fail no request, and those in flight are answered`() async throws {
            try await WireSite.run(WireSite.Options(hubTimeout: 60)) { site in
                let alice = try site.addUser("alice")
                let id = try site.register(alice, handle: site.makeHandle())
                let text = site.secrets.make("kept ")
                let message = try site.sendSecure(text, from: alice, to: alice)
                let handle = site.makeHandle()
                let calls: [@Sendable () throws -> Response] = [
                    { try site.put(id, handle: handle, as: alice) },
                    { try site.call(.post, Path.register, as: alice) },
                    { try site.call(.get, "\(Path.notifications)/\(message)", as: alice) },
                ]
                try Load.run(calls) { load in
                    for number in 1...10 {
                        #expect(load.isCarried())
                        site.backend.signal(SIGHUP)
                        #expect(Deadline.poll(seconds: 60) { site.reloads == number })
                    }
                    // While the hub sleeps they are certainly in flight, and belong to the former site.
                    site.hub.signal(SIGSTOP)
                    defer { site.hub.signal(SIGCONT) }
                    let isBusy = try site.awaitBusyWorkers(1)
                    #expect(isBusy)
                    site.backend.signal(SIGHUP)
                    #expect(Deadline.poll(seconds: 60) { site.reloads == 11 })
                    site.hub.signal(SIGCONT)
                    #expect(load.isCarried())
                }
            }
        }

        @Test func `failed log-ins are remembered over a reload`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                let stranger = WireUser(name: alice.name, password: site.secrets.make("wrong-"))
                site.secrets.add(stranger.authorization)
                // They are remembered for a minute. What took longer has proved nothing, and is tried again.
                var isInTime = false
                for attempt in 1...5 where !isInTime {
                    let began = ContinuousClock.now
                    let isRefused = try Deadline.poll(seconds: 120) {
                        try site.call(.get, Path.register, as: stranger).status == .tooManyRequests
                    }
                    #expect(isRefused)
                    site.backend.signal(SIGHUP)
                    #expect(Deadline.poll(seconds: 60) { site.reloads == attempt })
                    let status = try site.call(.get, Path.register, as: stranger).status
                    isInTime = status == .tooManyRequests || ContinuousClock.now - began < .seconds(50)
                    if isInTime { #expect(status == .tooManyRequests) }
                }
                #expect(isInTime)
            }
        }
    }
}

extension WireSite {
    /// How often the backend has said that it read its configuration again.
    fileprivate var reloads: Int { backend.log.components(separatedBy: "reloaded the configuration").count - 1 }
}
