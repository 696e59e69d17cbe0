// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support
import Testing

extension WireTests {
    /// `app-backend doctor` on configuration, socket and store.
    struct DoctorServiceStories {
        /// A service with a store of its own beside the shared site; nginx leads to the site's.
        private struct Bench {
            let folder: ScratchFolder
            let service: BackendProcess

            init(isHandedSocket: Bool = false) throws {
                folder = try ScratchFolder()
                let store = folder.path("store")
                service = try BackendProcess(
                    "bench", in: folder, isHandedSocket: isHandedSocket, keys: "\"store\": { \"path\": \"\(store)\" }")
            }

            func diagnose(
                _ site: WireSite, timeout: Int = 60, more: [String] = []
            ) throws -> Diagnosis {
                _ = try Program.run(
                    Program.appBackend, ["user", "add", "alice", "--config", service.configuration],
                    input: .text("password\n"))
                return try site.diagnose(
                    WireSite.Walk(configuration: service.configuration, timeout: timeout, more: more))
            }
        }

        @Test func `every fault of the configuration is named, and the rest is looked at anyway`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let diagnosis = try site.diagnose(
                WireSite.Walk(
                    configuration: try site.configuration(
                        replacing: "\"workers\": 16", with: "\"colour\": 7, \"workers\": 0")))
            #expect(diagnosis.wrong == ["configuration"])
            for key in ["colour", "workers"] { #expect(diagnosis.found("configuration").contains(key)) }
            #expect(diagnosis.cure("configuration").contains("workers in \(site.scratch.path)/doctor-"))
            #expect(diagnosis.steps("ok").contains("hub"))
            let broken = try site.configuration(replacing: "\"workers\":", with: "\"workers\"")
            let unread = try site.diagnose(
                WireSite.Walk(configuration: broken, more: ["--socket", site.backend.socket]))
            #expect(unread.wrong == ["configuration"] && unread.steps("ok").contains("socket"))
            #expect(unread.steps("skipped").contains("store"))
        }

        @Test func `a secret that the unit is given and this command is not is warned of`() throws {
            let site = try sharedSite()
            let bench = try Bench()
            defer { bench.service.stop() }
            try bench.folder.write("Endpoint=sb://a.example/", to: "hub.connectionString")
            let diagnosis = try bench.diagnose(site)
            #expect(diagnosis.wrong == [])
            #expect(diagnosis.cure("configuration").contains("CREDENTIALS_DIRECTORY=\(bench.folder.path) "))
        }

        @Test func `the service runs with another configuration`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let changed = try site.configuration(
                replacing: "\"workers\": 16", with: "\"auth\": { \"realm\": \"Other\" }, \"workers\": 16")
            let diagnosis = try site.diagnose(WireSite.Walk(configuration: changed))
            // The clock and the disk are this machine's own.
            let warnings = diagnosis.steps("warning").filter { $0 != "clock" && $0 != "store" }
            #expect(diagnosis.wrong == [] && warnings == ["nginx", "socket"])
            #expect(diagnosis.found("socket").contains("auth.realm"))
        }

        @Test func `the service was killed, stopped, and hangs`() throws {
            let site = try sharedSite()
            let bench = try Bench()
            defer { bench.service.stop() }
            bench.service.kill()
            let killed = try bench.diagnose(site)
            #expect(killed.wrong == ["socket"] && killed.found("socket").contains("nothing listens"))
            #expect(killed.cure("socket").contains("systemctl status app-backend.service"))
            try bench.service.start()
            #expect(try bench.diagnose(site).wrong == [])
            bench.service.signal(SIGSTOP)
            let hanging = try bench.diagnose(site, timeout: 5)
            #expect(hanging.wrong.contains("socket") && hanging.found("socket").contains("no answer comes"))
            #expect(hanging.cure("socket").contains("journalctl -u app-backend"))
            bench.service.signal(SIGCONT)
            bench.service.stop()
            let stopped = try bench.diagnose(site)
            #expect(stopped.wrong == ["socket"] && stopped.found("socket").contains("there is no such socket"))
        }

        @Test func `--socket names systemd's socket, one that is not there, or none`() throws {
            let site = try sharedSite()
            let bench = try Bench(isHandedSocket: true)
            defer { bench.service.stop() }
            #expect(try bench.diagnose(site, more: ["--socket", bench.service.socket]).wrong == [])
            let missing = try bench.diagnose(site, more: ["--socket", bench.folder.path("none.sock")])
            #expect(missing.wrong == ["socket"])
            #expect(missing.cure("socket").contains("systemctl enable --now app-backend.socket"))
            let none = try bench.diagnose(site, more: ["--socket", "none"])
            #expect(none.wrong == [] && none.steps("skipped").contains("socket"))
        }

        @Test func `there are no users, or everybody is one`() throws {
            let site = try sharedSite()
            let bench = try Bench()
            defer { bench.service.stop() }
            let none = try site.diagnose(WireSite.Walk(configuration: bench.service.configuration))
            #expect(none.wrong == ["store"] && none.cure("store").contains("app-backend user add"))
            let store = bench.folder.path("store")
            let path = try bench.folder.write(
                "{ \"listen\": \"\(bench.service.socket)\", \"store\": { \"path\": \"\(store)\" }, \"auth\": { \"method\": \"test\" } }",
                to: "test.json")
            let test = try site.diagnose(WireSite.Walk(configuration: path))
            #expect(test.wrong == [] && test.cure("store").contains("auth.method in \(path)"))
        }

        @Test func `the store is open to others, cannot be written, or is not there`() throws {
            let site = try sharedSite()
            let bench = try Bench()
            defer { bench.service.stop() }
            let store = bench.folder.path("store")
            #expect(try bench.diagnose(site).wrong == [])
            #expect(chmod(store, 0o755) == 0)
            let open = try site.diagnose(WireSite.Walk(configuration: bench.service.configuration))
            #expect(open.wrong == ["store"] && open.cure("store").contains("chmod 700 \(store)"))
            // Root may write anywhere, so it gets another owner then.
            if geteuid() == 0 {
                try give(store, to: 65_534)
                // As that user the configuration is read.
                #expect(chmod(bench.folder.path, 0o755) == 0 && chmod(bench.service.configuration, 0o644) == 0)
            }
            #expect(chmod(store, 0o500) == 0)
            let readOnly = try site.diagnose(WireSite.Walk(configuration: bench.service.configuration))
            #expect(readOnly.wrong == ["store"] && readOnly.found("store").contains("may not be written"))
            #expect(chmod(store, 0o700) == 0 && rename(store, store + ".gone") == 0)
            let missing = try site.diagnose(WireSite.Walk(configuration: bench.service.configuration))
            #expect(missing.wrong.contains("store") && missing.cure("store").contains("store.path in"))
            #expect(rename(store + ".gone", store) == 0)
        }

        @Test(
            .enabled(if: geteuid() == 0, "only root can leave files in another's store"),
            arguments: ["users.jsonl", "messages/left.jsonl", "hub/registrations/left.jsonl"])
        func `a file that root left in the store`(file: String) throws {
            let site = try sharedSite()
            let bench = try Bench()
            _ = try bench.diagnose(site)
            let store = bench.folder.path("store")
            try give(store, to: 65_534)
            // As that user the configuration is read.
            #expect(chmod(bench.folder.path, 0o755) == 0 && chmod(bench.service.configuration, 0o644) == 0)
            if access("\(store)/\(file)", F_OK) != 0 { try Data().write(to: URL(filePath: "\(store)/\(file)")) }
            #expect(chown("\(store)/\(file)", 0, 0) == 0)
            let diagnosis = try site.diagnose(WireSite.Walk(configuration: bench.service.configuration))
            #expect(diagnosis.wrong == ["store"] && diagnosis.found("store").contains("\(store)/\(file)"))
            #expect(diagnosis.cure("store").contains("chown -R --reference=\(store) \(store)"))
            bench.service.stop()
        }

        @Test func `lines that could not be read are counted, and nothing in the store is changed`() throws {
            let site = try sharedSite()
            let bench = try Bench()
            defer { bench.service.stop() }
            _ = try bench.diagnose(site)
            let store = bench.folder.path("store")
            try Data("{\"half\n{\"another\n".utf8).write(to: URL(filePath: store + "/quarantine/users.jsonl"))
            let before = try snapshot(store)
            let diagnosis = try site.diagnose(WireSite.Walk(configuration: bench.service.configuration))
            #expect(diagnosis.wrong == [] && diagnosis.found("store").contains("2 lines"))
            #expect(try snapshot(store) == before)
        }

        private func give(_ store: String, to user: uid_t) throws {
            let names = FileManager.default.enumerator(atPath: store)?.compactMap { $0 as? String } ?? []
            for path in [store] + names.map({ "\(store)/\($0)" }) { #expect(chown(path, user, user) == 0) }
        }

        /// Every file's name, size and time of change; but for the folder of locks, where a running service's `/health`
        /// tries whether it can write.
        private func snapshot(_ store: String) throws -> [String] {
            let names = FileManager.default.enumerator(atPath: store)?.compactMap { $0 as? String } ?? []
            return names.filter { $0 != "lock" }.sorted().map { name in
                var status = stat()
                _ = stat("\(store)/\(name)", &status)
                return "\(name) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
            }
        }
    }
}
