// SPDX-License-Identifier: Apache-2.0
import NotificationHub
internal import Push
import Store

/// A message that is being delivered by this process.
struct DeliveryJob {
    var message: QueuedMessage
    /// Targets to come, sorted by id; nil: not looked up yet.
    var targets: ArraySlice<String>?
    /// Why the next target could not be handed over the last time.
    var obstacle: Obstacle?
    /// After an error of the store: not before this, in seconds since 1970.
    var pausedUntil = Int64.min

    /// What keeps a message waiting in whole.
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
    }

    /// Under which the devices are counted that are not looked at one by one. Only native notifications are queued.
    var platform: Platform {
        if case .native(let platform) = message.notification.format { platform } else { .browser }
    }

    /// Whether nothing is left to be done for anybody.
    var isDone: Bool { targets?.isEmpty == true && message.retries.isEmpty && message.inFlight == 0 }

    /// Whether nothing can be done but to wait for another try's time, or for a credential.
    /// - Parameter retries: with so many the message itself waits.
    func isWaiting(retries: Int) -> Bool {
        guard message.inFlight == 0 else { return false }
        if case .heldChannel = obstacle { return true }
        guard !message.retries.isEmpty else { return false }
        return targets?.isEmpty == true || message.retries.count >= retries
    }

    /// - Throws: `StoreError`, of reading the registrations.
    mutating func findTargets(_ selection: TargetSelection) throws(StoreError) {
        guard targets == nil else { return }
        switch message.audience {
        case .device: targets = message.cursor == nil ? [QueuedMessage.unregistered] : []
        case .tags(let expression):
            targets = try selection.ids(message.notification.format, expression, after: message.cursor)[...]
        }
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
        let coming = targets?.count ?? 0
        message.record.add(.abandoned, platform: platform, count: coming)
        targets = []
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
