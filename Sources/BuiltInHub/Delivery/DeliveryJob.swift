// SPDX-License-Identifier: Apache-2.0
import NotificationHub
internal import Push
import Store

/// A message that is being delivered by this process.
struct DeliveryJob {
    var message: QueuedMessage
    /// The targets to come, in one lane for each app of a platform; nil: not looked up yet.
    var lanes: [Lane]?
    /// Of the targets, from its begin until its result is taken; nil: there is none.
    var lookup: TargetLookup?
    /// After an error of the store: not before this.
    var pausedUntil: ContinuousClock.Instant?

    /// The targets of one app. They wait for its credential and its service, and those of other apps do not.
    struct Lane {
        let name: LaneName
        /// Sorted by id.
        var targets: ArraySlice<String>
        /// Why the next target could not be handed over the last time.
        var obstacle: Obstacle?

        var isHeld: Bool { if case .heldChannel = obstacle { true } else { false } }

        /// Why the credential is refused; nil: it is not, or not any more.
        var heldReason: String? { if case .heldChannel(let channel) = obstacle { channel.hold?.reason } else { nil } }
    }

    /// What keeps a lane waiting in whole.
    enum Obstacle {
        /// The service has as much in flight as it may.
        case fullService(String)
        /// The channel's credential is refused.
        case heldChannel(PushChannel)
    }

    /// - Parameter message: from the queue. What a process before this one had in flight cannot be known any more.
    init(_ message: QueuedMessage) {
        self.message = message
        for (platform, count) in message.inFlight {
            self.message.record.add(.unknownError, platform: platform, count: count)
        }
        self.message.inFlight = [:]
        if case .devices(let devices) = message.audience, let first = devices.first {
            let name = LaneName(of: first, format, among: [])
            let through = message.cursors[name]
            let targets = devices.indices.map { Target.name(ofPlace: $0) }.drop { target in
                through.map { target <= $0 } ?? false
            }
            lanes = [Lane(name: name, targets: targets)]
        }
    }

    private var format: HubNotification.Format { message.notification.format }

    /// Whether nothing is left to be done for anybody.
    var isDone: Bool {
        lanes?.allSatisfy(\.targets.isEmpty) == true && message.retries.isEmpty && message.inFlight.isEmpty
    }

    /// Whether nothing can be done but to wait for another try's time, or for a credential.
    /// - Parameter retries: with so many the message itself waits.
    func isWaiting(retries: Int) -> Bool {
        guard message.inFlight.isEmpty else { return false }
        guard !message.retries.isEmpty || lanes?.contains(where: \.isHeld) == true else { return false }
        guard let lanes else { return message.retries.count >= retries }
        return lanes.allSatisfy { $0.targets.isEmpty || $0.isHeld || !hasRoom($0.name.platform, retries: retries) }
    }

    /// Whether one more target of the platform may wait for another try.
    func hasRoom(_ platform: Platform, retries: Int) -> Bool {
        guard message.retries.count >= retries else { return true }
        return message.retries.count { $0.platform == platform } < retries
    }

    /// What has to be read from the store to know the targets; nil where they are known.
    /// - Parameter known: a lane for each app that there are channels of.
    func targetLookup(_ selection: TargetSelection, lanes known: [LaneName]) -> TargetLookup? {
        guard lanes == nil, case .tags(let expression) = message.audience else { return nil }
        // An app that was taken out meanwhile keeps its lane, or its devices would be counted once more.
        let former = message.cursors.keys.filter { !known.contains($0) }.sorted()
        let (names, cursors, format) = (known + former, message.cursors, format)
        let selection = selection.reaching(message.record.namespaces)
        return TargetLookup(message.record.tags ?? "") { () throws(StoreError) in
            let ids = try selection.ids(format, expression) { LaneName(of: $0, format, among: names) }
            // A template send has targets of platforms that there is no channel of.
            let others = ids.keys.filter { !names.contains($0) }.sorted()
            return (names + others).map { name in
                let targets = (ids[name] ?? []).drop { id in cursors[name].map { id <= $0 } ?? false }
                return Lane(name: name, targets: targets)
            }
        }
    }

    /// The lane that a registration is in.
    func lane(of registration: RegistrationDescription) -> LaneName {
        LaneName(of: registration, format, among: (lanes ?? []).lazy.map(\.name))
    }

    /// Notes why the lane waits.
    mutating func block(_ name: LaneName, by obstacle: Obstacle) {
        guard let index = lanes?.firstIndex(where: { $0.name == name }) else { return }
        lanes?[index].obstacle = obstacle
    }

    /// The target of that name as it is now; nil when the message does not reach it any more.
    func target(_ id: String, _ selection: TargetSelection) throws(StoreError) -> Target? {
        switch message.audience {
        case .devices(let devices):
            devices.indices.first { Target.name(ofPlace: $0) == id }.map { Target(description: devices[$0], place: $0) }
        case .tags(let expression):
            try selection.reaching(message.record.namespaces).target(id, message.notification.format, expression)
        }
    }

    /// Counts targets that are handed over, or, below 0, of which all is known.
    mutating func count(_ change: Int, underWay registration: RegistrationDescription) {
        let platform = format.platform(of: registration)
        let count = message.inFlight[platform, default: 0] + change
        message.inFlight[platform] = count > 0 ? count : nil
    }

    /// Gives up what was not handed over by now.
    /// - Returns: whether there was anything.
    mutating func abandon() -> Bool {
        let coming = (lanes ?? []).filter { !$0.targets.isEmpty }
        for lane in coming {
            message.record.add(.abandoned, platform: lane.name.platform, count: lane.targets.count)
        }
        lanes = []
        return abandonRetries() || !coming.isEmpty
    }

    /// Whether it has targets that wait for another try or for a credential.
    var hasWaiting: Bool { !message.retries.isEmpty || lanes?.contains { $0.isHeld && !$0.targets.isEmpty } == true }

    /// Gives up the targets that wait for another try or for a credential.
    mutating func abandonWaiting() {
        abandonRetries()
        for index in lanes?.indices ?? 0..<0 {
            guard let lane = lanes?[index], lane.isHeld else { continue }
            message.record.add(.abandoned, platform: lane.name.platform, count: lane.targets.count)
            message.cursors[lane.name] = lane.targets.last ?? message.cursors[lane.name]
            lanes?[index].targets = []
        }
    }

    /// Gives up those who were to be tried again.
    /// - Parameter device: this one alone; nil: all.
    /// - Returns: whether there were any.
    @discardableResult
    mutating func abandonRetries(of device: String? = nil) -> Bool {
        let given = message.retries.filter { device == nil || $0.registrationID == device }
        for retry in given { message.record.add(.abandoned, platform: retry.platform) }
        message.retries.removeAll { device == nil || $0.registrationID == device }
        return !given.isEmpty
    }
}
