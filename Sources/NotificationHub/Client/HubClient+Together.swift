// SPDX-License-Identifier: Apache-2.0
internal import HTTP
import System

extension HubClient {
    /// Hands all messages to the hub at the same time, and returns at once. Where the way to the hub carries one call at a
    /// time, they go one after the other, and all of it is known when this returns.
    package func start(_ messages: [AddressedNotification]) -> PendingSends {
        guard let together else { return PendingSends(sendInTurn(messages)) }
        let pending = PendingSends(
            count: messages.count, deadline: .after(together.timeout + Self.answerMargin))
        for (index, message) in messages.enumerated() {
            start(message, by: together.sender) { pending.record($0, ofMessage: index) }
        }
        return pending
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

    /// Asks for all of them at the same time, and waits for the last answer. Where the way to the hub carries one call at a
    /// time, they are asked for one after the other.
    package func details(of notificationIDs: [String]) -> [Result<NotificationDetails?, HubError>] {
        guard let together, notificationIDs.count > 1 else {
            return notificationIDs.map { id in Result { () throws(HubError) in try details(id) } }
        }
        let answers = Together.ask(notificationIDs, waiting: together.timeout + Self.answerMargin) { id, answer in
            let request = request(for: Self.question(id), id: trackingID ?? makeTrackingID())
            together.sender.send(request) { answer(Self.details(answered: $0)) }
        }
        return answers.map { $0 ?? .failure(.unreachable("no answer in time", mayHaveActed: false)) }
    }

    private static func details(
        answered result: Result<Response, any Error>
    ) -> Result<NotificationDetails?, HubError> {
        Result { () throws(HubError) in
            do throws(HubError) {
                switch result {
                case .success(let response): return try details(in: try accepted(response))
                case .failure(let error): throw unreachable(error)
                }
            } catch .notFound {
                return nil
            }
        }
    }
}
