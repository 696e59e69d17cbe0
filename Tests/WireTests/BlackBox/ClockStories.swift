// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import Foundation
import Glibc
import Support
import Testing

extension WireTests {
    /// What a clock that is set does to those who wait.
    struct ClockStories {
        @Test func `a clock that is set back delays neither signs of life, nor pushes, nor the end of a lost store`()
            throws
        {
            try WaitingSite.run { site in
                #expect(site.isAlive())
                let alice = try site.addUser("alice")
                let endpoint = try site.registerBrowser(alice)
                // The push service is not there yet: the push waits for another try.
                try site.push("later", from: alice, to: alice)
                try site.inner.begin("clock", "-3600")
                for _ in 1...3 { #expect(site.isAlive()) }
                try site.pushes.start()
                #expect(site.pushes.haveCome([endpoint: 1]))
                // Who tidies the store every ten seconds finds out, and ends the process.
                try site.inner.begin("flush")
                let lost = try site.call(
                    .post, Path.notifications, query: "to_tag=\(alice.name)", as: alice, body: "\"lost\"")
                #expect(lost.status == .serviceUnavailable)
                #expect(site.inner.backend.wait(seconds: 60) == 1)
            }
        }

        @Test func `no thread of an idle service waits on the clock that can be set`() throws {
            let scratch = try ScratchFolder()
            let manager = try NotifySocket(in: scratch)
            // Nothing preloaded: it waits as it is shipped.
            let backend = try BackendProcess(
                "idle", in: scratch, environment: WaitingSite.environment(manager),
                keys: #""store": { "path": "\#(scratch.path("store"))" }, "#
                    + WaitingSite.pushKeys(in: scratch, "localhost:443", caFile: nil))
            defer { backend.stop() }
            var waits = Waits()
            // The delivery, and those who tidy and watch: three threads that sleep until a moment.
            let isSeen = Deadline.poll(seconds: 60) {
                waits.look(at: backend)
                return waits.onSteadyClock.count >= 3 || !waits.onWallClock.isEmpty
            }
            #expect(isSeen)
            for _ in 1...100 { waits.look(at: backend) }
            #expect(waits.onWallClock.isEmpty, "\(waits.onWallClock)")
        }
    }
}

/// The threads that were seen in futex(2) with an end of their wait.
private struct Waits {
    private(set) var onWallClock: Set<String> = []
    private(set) var onSteadyClock: Set<String> = []

    /// `SYS_futex`, and a bit of its second argument (linux/futex.h).
    #if arch(x86_64)
        private static let futex = "202"
    #else
        private static let futex = "98"
    #endif
    private static let clockRealtime: UInt64 = 256

    mutating func look(at process: BackendProcess) {
        for (thread, call) in process.systemCalls where call[0] == Self.futex {
            let numbers = call.dropFirst().map { UInt64($0.dropFirst(2), radix: 16) ?? 0 }
            // A thread that waits without end waits on no clock.
            guard numbers[3] != 0 else { continue }
            if numbers[1] & Self.clockRealtime != 0 { onWallClock.insert(thread) } else { onSteadyClock.insert(thread) }
        }
    }
}

/// A site with a service manager that listens, a push service that is not there yet, and a clock that can be set.
private struct WaitingSite: PushingSite {
    let inner: FaultSite
    let pushes: PushSink
    let manager: NotifySocket

    var authority: String { inner.authority }
    var transport: CurlTransport { inner.transport }
    var secrets: Secrets { inner.secrets }

    static func run(_ body: (WaitingSite) throws -> Void) throws {
        let scratch = try ScratchFolder()
        let manager = try NotifySocket(in: scratch)
        // Good yesterday already, because the clock is set back.
        let certificate = try DatedCertificate(from: -2, to: 2)
        let pushes = try PushSink(certificates: certificate.folder.path)
        defer { pushes.stop() }
        let push = try pushKeys(
            in: scratch, "localhost:\(pushes.port)", caFile: certificate.folder.path("cert.pem"))
        let environment = environment(manager)
        try FaultSite.run(in: scratch, environment: environment, keys: ", " + push) { site in
            try body(WaitingSite(inner: site, pushes: pushes, manager: manager))
        }
    }

    static func environment(_ manager: NotifySocket) -> [String] {
        ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=1200000"]
    }

    /// What lets the built-in hub push to browsers through that host, with a key that is made now.
    static func pushKeys(in scratch: ScratchFolder, _ host: String, caFile: String?) throws -> String {
        let file = caFile.map { #""caFile": "\#($0)", "# } ?? ""
        let keys = """
            "webPush": { "subject": "mailto:push@example.com", "privateHosts": ["\(host)"], \(file)
                         "privateKeyFile": "\(scratch.path("vapid.key"))" }
            """
        let store = try scratch.makeFolder("made")
        let settings = try scratch.write(#"{ "store": { "path": "\#(store)" }, \#(keys) }"#, to: "keys.json")
        let made = try Program.run(Program.appBackend, ["keys", "vapid", "--config", settings])
        guard made.status == 0 else { throw Program.NotCopied(reason: made.errors) }
        return keys
    }

    /// Whether the manager hears once more that there was progress.
    func isAlive() -> Bool {
        manager.wait(for: "WATCHDOG=1", after: manager.assignments().count) != nil
    }

    func run(_ arguments: [String], input: String) throws -> Program.Outcome {
        try inner.run(arguments, input: input)
    }
}
