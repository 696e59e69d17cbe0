// SPDX-License-Identifier: Apache-2.0
internal import System

/// Devices that their service calls another sender's. Either the device is of another app, or the credential is not that of the app;
/// one answer cannot tell which. Any thread may use it; times are seconds since 1970.
final class DoubtfulDevices: Sendable {
    /// That the credential of a channel is probably not that of the app.
    struct Doubt: Equatable {
        let channel: String
        /// For the operator.
        let reason: String
        let since: Int64
    }

    /// What follows for one device.
    struct Judgement {
        /// Whether the answer is the first about this device within an hour.
        let isNew: Bool
        /// Whether the credential has reached another device since the first answer about this one, an hour ago or more.
        let isProven: Bool
    }

    /// So many different devices without one that is reached are a doubt.
    static let minimum = 3
    /// Devices of one channel that are remembered; when there are more, all are found out again.
    static let capacity = 10_000
    /// In seconds; also how long a doubt lasts when there is no further answer.
    private static let period = RemovalBreaker.period

    private struct Suspect {
        let version: Int
        let since: Int64
        var countedAt: Int64
        /// How often the credential had been accepted when it was refused last.
        var acceptances: Int
    }

    private struct Channel {
        /// By registration id.
        var suspects: [String: Suspect] = [:]
        var acceptedAt = Int64.min
        var acceptances = 0
        /// Different devices since the credential was accepted last.
        var unreached = 0
        var doubt: Doubt?
        var refusedAt: Int64 = 0
        /// Whether the removal breaker has found too many.
        var isFlood = false

        func doubt(at now: Int64) -> Doubt? {
            // Before the first refusal there is none, and no time to compare with.
            guard let doubt else { return nil }
            // A clock that was set must not prolong it.
            return (0..<DoubtfulDevices.period).contains(now - refusedAt) ? doubt : nil
        }

        mutating func noteRefused(_ id: String, version: Int, at now: Int64) -> Judgement {
            if doubt(at: now) == nil { (doubt, isFlood) = (nil, false) }
            refusedAt = now
            if suspects.count >= DoubtfulDevices.capacity { suspects = [:] }
            guard var suspect = suspects[id], suspect.version == version, suspect.since <= now else {
                unreached += 1
                suspects[id] = Suspect(version: version, since: now, countedAt: now, acceptances: acceptances)
                return Judgement(isNew: true, isProven: false)
            }
            let isNew = !(0..<DoubtfulDevices.period).contains(now - suspect.countedAt)
            if isNew { suspect.countedAt = now }
            if suspect.acceptances != acceptances { unreached += 1 }
            suspect.acceptances = acceptances
            suspects[id] = suspect
            let isOld = now - suspect.since >= DoubtfulDevices.period
            return Judgement(isNew: isNew, isProven: isOld && acceptedAt >= suspect.since)
        }

        mutating func noteReached(_ id: String?, at now: Int64) {
            if let id { suspects[id] = nil }
            acceptedAt = now
            acceptances += 1
            unreached = 0
            if !isFlood { doubt = nil }
        }

        mutating func beginDoubt(_ wanted: Doubt, isFlood isFloodNow: Bool) -> Bool {
            let isOngoing = doubt(at: wanted.since) != nil
            isFlood = isFloodNow || isOngoing && isFlood
            guard !isOngoing, isFloodNow || unreached >= DoubtfulDevices.minimum else { return false }
            doubt = wanted
            return true
        }
    }

    /// By name; those of which there was such an answer.
    private let channels = Lock<[String: Channel]>([:])

    /// - Parameters:
    ///   - id: of the registration.
    ///   - version: of the registration; another one is another device.
    func note(_ id: String, version: Int, refusedBy channel: String, at now: Int64) -> Judgement {
        channels.withLock { $0[channel, default: Channel()].noteRefused(id, version: version, at: now) }
    }

    /// Notes that the channel's credential was accepted for a device.
    func note(_ id: String?, reachedBy channel: String, at now: Int64) {
        channels.withLock { $0[channel]?.noteReached(id, at: now) }
    }

    /// Begins a doubt where there is cause for one.
    /// - Parameter isFlood: whether the removal breaker has found too many such devices.
    /// - Returns: whether it is new.
    func beginDoubt(_ channel: String, reason: String, isFlood: Bool, at now: Int64) -> Bool {
        let doubt = Doubt(channel: channel, reason: reason, since: now)
        return channels.withLock { $0[channel]?.beginDoubt(doubt, isFlood: isFlood) } ?? false
    }

    /// Forgets a registration that was removed.
    func forget(_ id: String, of channel: String) {
        channels.withLock { $0[channel]?.suspects[id] = nil }
    }

    var remembered: Int { channels.withLock { $0.values.reduce(0) { $0 + $1.suspects.count } } }

    func doubts(at now: Int64) -> [Doubt] {
        channels.withLock { $0.values.compactMap { $0.doubt(at: now) } }.sorted { $0.channel < $1.channel }
    }
}
