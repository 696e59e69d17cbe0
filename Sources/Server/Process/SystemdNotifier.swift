// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The service manager that started the process: systemd, or a program that sets `$NOTIFY_SOCKET` as it does
/// (`sd_notify(3)`, whose protocol is one datagram of `NAME=value` lines).
struct SystemdNotifier: Sendable {
    enum State: Equatable, Sendable {
        /// The store is brought to this version's format. The manager waits for `ready` for so long from now on, if its own limit
        /// for a start (`TimeoutStartSec=`) is shorter.
        case migrating(Duration)
        /// Everything that is needed to answer is there; also the end of a reload.
        case ready
        /// The configuration is being read again.
        case reloading
        /// The process is on its way to its end.
        case stopping
        /// There was progress since the last time (`WatchdogSec=`).
        case alive
        /// A line for `systemctl status`.
        case status(String)
    }

    /// How long it waits for `alive` before it ends the process; nil: without end.
    let watchdog: Duration?
    private let address: sockaddr_un
    private let addressSize: socklen_t

    /// Finds it in the environment; nil where no service manager has set it.
    init?() {
        guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }), let address = Self.address(path) else {
            return nil
        }
        (self.address, addressSize) = address
        watchdog = Self.watchdogTime()
    }

    func notify(_ states: State...) {
        notify(states)
    }

    /// Never fails, and never waits: a datagram that cannot be delivered at once is lost.
    func notify(_ states: [State]) {
        let text = states.map(Self.lines).joined(separator: "\n")
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return }
        defer { close(number) }
        var address = address
        let bytes = Array(text.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(number, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0, addressSize)
            }
        }
    }

    private static func lines(_ state: State) -> String {
        switch state {
        case .migrating(let patience):
            "EXTEND_TIMEOUT_USEC=\(patience.components.seconds)000000\nSTATUS=Bringing the store to this version's format"
        case .ready: "READY=1"
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Deadline.now.nanoseconds / 1_000)"
        case .stopping: "STOPPING=1"
        case .alive: "WATCHDOG=1"
        // A line break would begin another assignment.
        case .status(let text): "STATUS=" + String(text.map { $0.isNewline ? " " : $0 })
        }
    }

    /// `$WATCHDOG_USEC`, where it is meant for this process (`sd_watchdog_enabled(3)`).
    private static func watchdogTime() -> Duration? {
        if let process = getenv("WATCHDOG_PID"), Int32(String(cString: process)) != getpid() { return nil }
        guard let text = getenv("WATCHDOG_USEC"), let time = Int64(String(cString: text)), time > 0 else { return nil }
        return .microseconds(time)
    }

    /// A path, or with an `@` in front a name in Linux's abstract namespace.
    private static func address(_ path: String) -> (sockaddr_un, socklen_t)? {
        var bytes = Array(path.utf8)
        guard bytes.count > 1 else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "@"): bytes[0] = 0
        case UInt8(ascii: "/"): break
        default: return nil
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < capacity else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return (address, socklen_t(MemoryLayout<sockaddr_un>.size - capacity + bytes.count))
    }
}
