// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import System

/// How many pushes were taken in each hour of the last day, by what this process has counted: what the counters said when an
/// hour began. A process that starts again knows nothing of before.
package final class PushHistory: Sendable {
    /// Hours that are told, the present one among them.
    package static let hours: Int64 = 24
    private static let secondsPerHour: Int64 = 3_600

    /// Tries of one platform.
    private struct Tally: Equatable {
        var taken: UInt64 = 0
        var failed: UInt64 = 0
    }

    /// What was counted on one platform in one hour.
    package struct Hour: Equatable, Sendable {
        /// When it began, in seconds since 1970.
        package let beganAt: Int64
        package let platform: Platform
        /// Tries that the push service has taken.
        package let taken: UInt64
        package let failed: UInt64
    }

    /// Of the hours' beginnings, the oldest first.
    private let marks = Lock<[(hour: Int64, tallies: [Platform: Tally])]>([])

    init() {}

    /// Notes what was counted so far; to be called every few seconds.
    /// - Parameter now: seconds since 1970.
    package func note(_ pushes: PushMetrics, now: Int64) {
        let (hour, tallies) = (now / Self.secondsPerHour, Self.tallies(pushes))
        marks.withLock { marks in
            // The first: what is counted already was counted in this hour, too.
            guard let last = marks.last else { return marks = [(hour, [:])] }
            guard hour != last.hour else { return }
            // A clock that was ahead has made hours that are yet to come: what was counted in them is this hour's.
            if hour < last.hour {
                let early = marks.filter { $0.hour > hour }
                marks.removeAll { $0.hour > hour }
                if marks.last?.hour != hour { marks.append((hour, early.first?.tallies ?? tallies)) }
                return
            }
            marks.append((hour, tallies))
            marks.removeAll { $0.hour <= hour - Self.hours }
        }
    }

    /// The hours in which something was pushed, the oldest first.
    package func hours(_ pushes: PushMetrics, now: Int64) -> [Hour] {
        note(pushes, now: now)
        let (marks, present) = (marks.withLock(\.self), Self.tallies(pushes))
        let ends = marks.dropFirst().map(\.tallies) + [present]
        return zip(marks, ends).flatMap { mark, end in
            end.compactMap { platform, tally in
                let before = mark.tallies[platform] ?? Tally()
                guard tally != before else { return nil }
                return Hour(
                    beganAt: mark.hour * Self.secondsPerHour, platform: platform, taken: tally.taken &- before.taken,
                    failed: tally.failed &- before.failed)
            }.sorted { $0.platform.rawValue < $1.platform.rawValue }
        }
    }

    private static func tallies(_ pushes: PushMetrics) -> [Platform: Tally] {
        pushes.counts.reduce(into: [:]) { tallies, one in
            if one.outcome == PushMetrics.taken {
                tallies[one.platform, default: Tally()].taken &+= one.count
            } else {
                tallies[one.platform, default: Tally()].failed &+= one.count
            }
        }
    }
}
