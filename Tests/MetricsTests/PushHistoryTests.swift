// SPDX-License-Identifier: Apache-2.0
import HTTP
import Metrics
import NotificationHub
import Push
import Testing

/// What was pushed in each hour of the last day.
struct PushHistoryTests {
    private static let hour: Int64 = 3_600
    /// The beginning of an hour, in seconds since 1970.
    private static let start: Int64 = 500_000 * hour

    /// Says whatever it is asked to say.
    private struct Driver: PushDriver {
        let platform: Platform
        let outcome: PushOutcome

        func request(for notification: HubNotification, to device: DeviceHandle) throws(PushRefusal) -> Request {
            Request(method: .post, path: "/")
        }

        func result(of response: Response) -> PushResult { PushResult(outcome, .settle) }
    }

    private let metrics = SiteMetrics(version: "1", startedAt: 0)

    private func push(_ count: Int, _ platform: Platform = .apns, _ outcome: PushOutcome = .success) {
        let driver = metrics.pushes.measuring(Driver(platform: platform, outcome: outcome))
        for _ in 0..<count { _ = driver.result(of: Response()) }
    }

    private func note(_ hours: Int64) { metrics.history.note(metrics.pushes, now: Self.start + hours * Self.hour) }

    /// `0 apns 2+1`: the hour since the start, what was taken and what was not.
    private func told(at hours: Int64, seconds: Int64 = 0) -> [String] {
        let now = Self.start + hours * Self.hour + seconds
        return metrics.history.hours(metrics.pushes, now: now).map { one in
            "\((one.beganAt - Self.start) / Self.hour) \(one.platform.rawValue) \(one.taken)+\(one.failed)"
        }
    }

    @Test func `each hour has what was pushed in it, and hours without a push are left out`() {
        note(0)
        push(2)
        push(1, .apns, .throttled)
        push(4, .browser)
        #expect(told(at: 0, seconds: 3_599) == ["0 apns 2+1", "0 browser 4+0"])
        for hours in 1...3 { note(Int64(hours)) }
        push(5)
        note(4)
        #expect(told(at: 4) == ["0 apns 2+1", "0 browser 4+0", "3 apns 5+0"])
    }

    @Test func `what a process has pushed before it was first asked counts`() {
        push(3)
        #expect(told(at: 0) == ["0 apns 3+0"])
    }

    @Test func `after a day an hour is forgotten, and no more than a day is kept`() {
        for hours in 0..<60 {
            note(Int64(hours))
            push(1)
        }
        #expect(told(at: 59).count == 24 && told(at: 59).first == "36 apns 1+0")
        #expect(told(at: 60).first == "37 apns 1+0")
        #expect(told(at: 200).isEmpty)
    }

    @Test func `a clock that is set back or far ahead neither loses nor doubles a push`() {
        note(5)
        push(1)
        note(3)
        push(1)
        #expect(told(at: 4) == ["3 apns 2+0"])
        // Asleep meanwhile: the pushes are of the hour in which they were made.
        note(9)
        #expect(told(at: 9) == ["3 apns 2+0"])
        // Two days ahead, until the clock is set right: the day goes on being told.
        note(60)
        push(1)
        note(10)
        push(1)
        #expect(told(at: 11) == ["10 apns 2+0"])
    }
}
