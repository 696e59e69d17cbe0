// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import NotificationHub
package import Store
import Synchronization
package import System

/// Delivers the events that wait, on one thread.
///
/// Of all processes on one store the one that holds the lease delivers. A receiver gets each event at least once: after a
/// crash, or when an answer is lost, it gets it again with the same id.
package final class WebhookWorker: Sendable {
    package struct Options: Sendable {
        /// How often the thread looks for new events.
        package var poll: Duration = .milliseconds(500)
        /// Events on their way to one receiver at once.
        package var inFlight = 16
        /// Events that wait at most; for new ones the oldest are dropped of the sender with the most (`WebhookRoom`).
        package var waiting = 10_000

        package init() {}
    }

    let webhooks: Webhooks
    let store: any StateStore
    let hub: any Hub
    let sender: any RequestSender
    let options: Options
    private let answers = Lock<[(id: String, outcome: Result<Int, any Error>)]>([])
    private let count = Atomic(0)
    package let loop = WorkLoop()

    /// - Parameter sender: ends each request within a deadline of its own.
    package init(
        _ webhooks: Webhooks, store: any StateStore, hub: any Hub, sender: any RequestSender,
        options: Options = Options()
    ) {
        (self.webhooks, self.store, self.hub, self.sender) = (webhooks, store, hub, sender)
        self.options = options
    }

    /// Delivers until its loop is stopped, on the thread that calls it.
    package func run() {
        loop.run(pause: options.poll, report: { webhooks.report("webhooks: \($0)") }) { () throws(StoreError) in
            if let lease = try webhooks.queue.acquireLease(of: .webhookEvents) {
                WebhookSession(self, lease).work()
                lease.release()
            }
            return options.poll
        }
    }

    /// Events that wait, as far as this process delivers them.
    package var waiting: Int { count.load(ordering: .relaxed) }

    func note(waiting: Int) { count.store(waiting, ordering: .relaxed) }

    func send(_ request: Request, _ id: String) {
        sender.send(request) { [self] result in
            answers.withLock { $0.append((id, result.map { $0.status.code })) }
            loop.wake()
        }
    }

    func takeAnswers() -> [(id: String, outcome: Result<Int, any Error>)] {
        answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
    }
}
