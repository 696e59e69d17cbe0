// SPDX-License-Identifier: Apache-2.0
internal import HTTP
import System

extension HubClient {
    /// Hands all messages to the hub at the same time and waits for all of its answers together, as long as for the slowest.
    /// Where the way to the hub carries one call at a time, they go one after the other.
    package func send(_ messages: [AddressedNotification]) -> [Result<SendReceipt, HubError>] {
        guard let together, messages.count > 1 else { return sendInTurn(messages) }
        // The transport has a deadline of its own for each call; this one is for a transport that does not keep it.
        let deadline = Deadline.after(together.timeout + Self.answerMargin)
        let answers = Lock([Result<SendReceipt, HubError>?](repeating: nil, count: messages.count))
        let answered = Semaphore()
        for (index, message) in messages.enumerated() {
            start(message, by: together.sender) { result in
                answers.withLock { $0[index] = result }
                answered.signal()
            }
        }
        for _ in messages where !answered.wait(until: deadline) { break }
        return answers.withLock(\.self).map { $0 ?? .failure(.unreachable("no answer in time", mayHaveActed: true)) }
    }

    /// How much later than the transport's deadline an answer may be seen.
    private static let answerMargin = Duration.seconds(1)

    /// - Parameter completion: called once, possibly before this returns.
    private func start(
        _ message: AddressedNotification, by sender: any RequestSender,
        _ completion: @escaping @Sendable (Result<SendReceipt, HubError>) -> Void
    ) {
        let id = trackingID ?? makeTrackingID()
        let call: Call
        do throws(HubError) {
            call = try Self.call(message.notification, to: message.expression)
        } catch {
            return completion(.failure(error))
        }
        sender.send(request(for: call, id: id)) { result in
            completion(
                Result { () throws(HubError) in
                    switch result {
                    case .success(let response): Self.receipt(try Self.accepted(response), trackingID: id)
                    case .failure(let error): throw Self.unreachable(error)
                    }
                })
        }
    }
}
