// SPDX-License-Identifier: Apache-2.0
import HTTP
import NotificationHub
package import Push
import Store
import Synchronization
package import System

/// Delivers what waits in the hub's queue, on one thread, to the devices that there are channels for.
///
/// Of all processes on one store the one that holds the delivery lease delivers; when it ends or dies, the next one takes over. A
/// device gets a message at most once: it is tried again only where it is certain that its service did not take it.
package final class DeliveryWorker: Sendable {
    package struct Options: Sendable {
        /// Requests in flight at once, to all services and to one of them. So many may stay unknown after a crash, and each
        /// takes some 40 KB. To a service that takes a tenth of a second 1000 are 10,000 a second.
        package var inFlight = 2_000
        package var inFlightPerService = 1_000
        /// Of these, requests to one service that wait on this host: for the thread that sends them, for a connection, or
        /// for one of the streams that the service allows. A message to one device waits behind them, so they are as few as
        /// keep the thread busy during one write to the store. So a service that answers at once, or allows few streams,
        /// has few in flight, and one that answers late has many.
        package var unsentPerService = 128
        /// Targets of one message that are handed over with one write to the store, which may name several messages.
        package var batch = 64
        /// Look-ups of targets that go on at once beside the delivery, and how long the delivering thread waits for one before it
        /// goes on with other messages.
        package var lookups = 4
        package var lookupPatience: Duration = .milliseconds(10)
        /// Messages that are worked on at once, without those that only wait for another try; the others stay in the
        /// store. What the store takes bounds them all.
        package var messages = 1_000
        /// Messages to one tag expression that wait for another try. If there are more, the sender with most of them loses the oldest.
        /// Without the limit, a user could fill the queue with messages to their own device that is never reached. A backend's expressions
        /// name sender and recipient.
        package var waitingPerAudience = 100
        /// The same of messages to one device, whatever expressions name it.
        package var waitingPerDevice = 100
        /// Bytes of all messages that wait for another try or for a credential; with more, the sender with most of them loses the
        /// oldest. The rest of the queue is for what comes.
        package var waitingBytes = Quotas().queueRoom.free
        /// So many tries in a row must fail until a host that only devices have named is taken for one that is not there.
        package var unresolvedTries = 5
        /// Targets of one message on one platform that wait for another try; with more its other targets there wait, too, also those
        /// that have another service.
        package var retries = 1_000
        /// How often the queue is checked for messages of other processes.
        package var poll: Duration = .milliseconds(250)
        /// How soon the thread looks again whether requests that wait on this host have been sent.
        package var sendingPoll: Duration = .milliseconds(5)
        /// How often the progress of messages in flight is written down when nothing else is.
        package var progress: Duration = .seconds(1)
        /// How long a message is tried to be delivered, in seconds; as Azure does.
        package var abandonSeconds: Int64 = 30 * 60
        /// How long a stop waits for what is in flight.
        package var drain: Duration = .seconds(5)

        package init() {}
    }

    /// Writes down that a device is gone, and why, if `isSoStill`: the registration was not renewed since its message was sent.
    package typealias GoneNote =
        @Sendable (RegistrationID, PushOutcome, _ isSoStill: () throws(StoreError) -> Bool) throws(StoreError) -> Void

    let store: any HubStore & HubQueue
    let channels: PushChannels
    let goneDevices: GoneDevices
    let options: Options
    let now: @Sendable () -> Int64
    let clock: MonotonicClock
    let selection: TargetSelection
    let report: @Sendable (String) -> Void
    let completions = CompletionQueue()
    let lookups: TargetLookups
    private let turns = Atomic(0)

    /// - Parameters:
    ///   - channels: the ways to the devices; of several for one app the first is tried first. The first app of a
    ///     platform is the default app.
    ///   - now: seconds since 1970.
    ///   - clock: counts the pauses.
    ///   - report: receives what the operator should know; never a handle or a text.
    ///   - noteGone: hears of each such registration before it is removed; if it fails, the registration stays.
    ///   - onRemoved: hears of each registration that was removed, because its push service called the device gone. It must not block.
    package init(
        store: any HubStore & HubQueue, channels: [PushChannel],
        options: Options = Options(), now: @escaping @Sendable () -> Int64,
        clock: @escaping MonotonicClock = { .now },
        report: @escaping @Sendable (String) -> Void = { _ in },
        noteGone: @escaping GoneNote = { _, _, _ in },
        onRemoved: @escaping @Sendable (RegistrationID, Platform) -> Void = { _, _ in }
    ) {
        self.store = store
        let channels = PushChannels(channels)
        self.channels = channels
        goneDevices = GoneDevices(
            store: store, channels: channels, now: now, report: report, noteGone: noteGone, onRemoved: onRemoved)
        self.options = options
        self.now = now
        self.clock = clock
        self.report = report
        lookups = TargetLookups(atOnce: options.lookups)
        selection = TargetSelection(store: store, reader: RegistrationReader { report("hub: \($0)") })
    }

    /// Delivers until its loop is stopped, on the thread that calls it.
    package func run() {
        var epoch = 0
        loop.run(pause: options.poll, report: { report("delivery: \($0)") }) { () throws(StoreError) in
            showLife()
            guard let lease = try store.acquireDeliveryLease() else { return options.poll }
            epoch += 1
            DeliverySession(self, lease, epoch: epoch).work()
            lease.release()
            return .zero
        }
    }

    package var loop: WorkLoop { completions.loop }

    /// Grows as long as the delivering thread is at work, also while there is nothing to deliver: every `poll` at least,
    /// or after each batch of targets.
    package var pulse: Int { turns.load(ordering: .relaxed) }

    func showLife() {
        turns.wrappingAdd(1, ordering: .relaxed)
    }

    /// Puts a message into the queue, where it is durable when this returns.
    /// - Throws: `StoreError`; `quotaExceeded`, when the queue is full; `shareExceeded`, when the sender's share of it is.
    func enqueue(_ message: QueuedMessage) throws(StoreError) {
        try store.enqueueHubMessage(message.stored)
        wake()
    }

    /// Makes the delivering thread look for work at once, instead of at the next poll.
    package func wake() {
        completions.call()
    }

    /// Whether there is a channel to devices for which such a notification is made; else nothing is queued.
    func delivers(_ format: HubNotification.Format) -> Bool {
        if case .native(let platform) = format { channels.reaches(platform) } else { !channels.all.isEmpty }
    }

    /// The lanes that targets of such a notification can be in: one for each app that there are channels of.
    func lanes(_ format: HubNotification.Format) -> [LaneName] {
        let platforms = if case .native(let platform) = format { [platform] } else { channels.families }
        return platforms.flatMap { platform in
            ([""] + channels.otherApps(platform)).map { LaneName(platform: platform, app: $0) }
        }
    }

    /// Where the target is tried first; nil: its platform or its app has no channel.
    func channel(for target: Target) -> PushChannel? {
        channels.channel(for: target.description.handle, of: target.description.app)
    }

    /// The ways to the devices, by their names.
    package var allChannels: [PushChannel] { channels.all }

    /// The channels whose credential is refused at this moment, with the reasons.
    package var holds: [PushChannel.Hold] { channels.holds }

    /// The channels whose credential is probably not that of the app, with the reasons, and since when, in seconds since 1970.
    package var doubts: [(channel: String, reason: String, since: Int64)] {
        goneDevices.doubts.map { ($0.channel, $0.reason, $0.since) }
    }
}

/// One moment: on the clock that says when a message is abandoned, and on the one that counts pauses.
struct Moment {
    /// Seconds since 1970.
    let date: Int64
    let instant: ContinuousClock.Instant
}

extension DeliveryWorker {
    var moment: Moment { Moment(date: now(), instant: clock()) }
}
