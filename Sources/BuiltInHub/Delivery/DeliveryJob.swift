// SPDX-License-Identifier: Apache-2.0
import NotificationHub
internal import Push
import Store

/// A message that is being delivered by this process.
struct DeliveryJob {
    var message: QueuedMessage
    /// The targets to come, in one lane for each app; nil: not looked up yet.
    var lanes: [Lane]?
    /// Of the targets, from its begin until its result is taken; nil: there is none.
    var lookup: TargetLookup?
    /// After an error of the store: not before this, in seconds since 1970.
    var pausedUntil = Int64.min

    /// The targets of one app. They wait for its credential and its service, and those of other apps do not.
    struct Lane {
        /// In lower case; empty: targets that name no app, or one that there was no channel of.
        let app: String
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
        self.message.record.add(.unknownError, platform: platform, count: message.inFlight)
        self.message.inFlight = 0
        if case .device = message.audience {
            lanes = [Lane(app: "", targets: message.cursors.isEmpty ? [QueuedMessage.unregistered] : [])]
        }
    }

    /// Under which the devices are counted that are not looked at one by one. Only native notifications are queued.
    var platform: Platform {
        if case .native(let platform) = message.notification.format { platform } else { .browser }
    }

    /// Whether nothing is left to be done for anybody.
    var isDone: Bool {
        lanes?.allSatisfy(\.targets.isEmpty) == true && message.retries.isEmpty && message.inFlight == 0
    }

    /// Whether nothing can be done but to wait for another try's time, or for a credential.
    /// - Parameter retries: with so many the message itself waits.
    func isWaiting(retries: Int) -> Bool {
        guard message.inFlight == 0 else { return false }
        guard !message.retries.isEmpty || lanes?.contains(where: \.isHeld) == true else { return false }
        return message.retries.count >= retries || lanes?.allSatisfy { $0.targets.isEmpty || $0.isHeld } == true
    }

    /// What has to be read from the store to know the targets; nil where they are known.
    /// - Parameter apps: those that there are channels of.
    func targetLookup(_ selection: TargetSelection, apps: [String]) -> TargetLookup? {
        guard lanes == nil, case .tags(let expression) = message.audience else { return nil }
        // An app that was taken out meanwhile keeps its lane, or its devices would be counted once more.
        let former = message.cursors.keys.filter { !$0.isEmpty && !apps.contains($0) }.sorted()
        let (names, cursors, format) = ([""] + apps + former, message.cursors, message.notification.format)
        return TargetLookup(message.record.tags ?? "") { () throws(StoreError) in
            let ids = try selection.ids(format, expression) { registration in
                registration.app.flatMap { names.contains($0) ? $0 : nil } ?? ""
            }
            return names.map { app in
                let targets = (ids[app] ?? []).drop { id in cursors[app].map { id <= $0 } ?? false }
                return Lane(app: app, targets: targets)
            }
        }
    }

    /// The lane that a registration is in.
    func lane(of registration: RegistrationDescription) -> String {
        guard let app = registration.app, lanes?.contains(where: { $0.app == app }) == true else { return "" }
        return app
    }

    /// Notes why the lane waits.
    mutating func block(_ app: String, by obstacle: Obstacle) {
        guard let index = lanes?.firstIndex(where: { $0.app == app }) else { return }
        lanes?[index].obstacle = obstacle
    }

    /// The target of that name as it is now; nil when the message does not reach it any more.
    func target(_ id: String, _ selection: TargetSelection) throws(StoreError) -> Target? {
        switch message.audience {
        case .device(let description): Target(description: description)
        case .tags(let expression): try selection.target(id, message.notification.format, expression)
        }
    }

    /// Gives up what was not handed over by now.
    /// - Returns: whether there was anything.
    mutating func abandon() -> Bool {
        let coming = (lanes ?? []).reduce(0) { $0 + $1.targets.count }
        message.record.add(.abandoned, platform: platform, count: coming)
        lanes = []
        return abandonRetries() || coming > 0
    }

    /// Gives up those who were to be tried again.
    /// - Returns: whether there were any.
    @discardableResult
    mutating func abandonRetries() -> Bool {
        let count = message.retries.count
        message.record.add(.abandoned, platform: platform, count: count)
        message.retries = []
        return count > 0
    }
}
