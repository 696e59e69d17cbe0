// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Logging

/// One request and its answer, told in the order of time: decode, check, ask the responder, encode. Belongs to one
/// worker; nothing of a request stays in it but the room of the answer's bytes.
final class RequestCycle {
    private let codec: Codec
    private let state: ServerState
    private var bytes = CGIResponseEncoder()

    init(codec: Codec, state: ServerState) {
        self.codec = codec
        self.state = state
    }

    /// How far a request has come.
    enum Outcome {
        /// Answered; whether the connection can serve another.
        case answered(isKept: Bool)
        /// To go on when this has ended. `ServerState.postponed` has room for it.
        case postponed(any Postponement)
    }

    /// Answers a whole request.
    /// - Parameter postponement: what it has waited for; nil the first time.
    func answer(
        _ buffer: ReceiveBuffer, length: Int, after postponement: (any Postponement)?, on number: Int32,
        beforeWaiting: @escaping () -> Void
    ) -> Outcome {
        var request = buffer.withBytes(first: length) { codec.decode($0) }
        request.environment.makeID()
        let (answer, isHead) = respond(request, postponement.map { .resumed($0) } ?? .available)
        var response = answer
        if let postponement = response.postponement {
            if state.postponed.enter(postponement.source, bytes: buffer.used) { return .postponed(postponement) }
            response = withoutRoom(for: response, id: request.environment.id)
        }
        let isSent = send(response, to: request, withoutBody: isHead, on: number, beforeWaiting)
        return .answered(isKept: isSent && request.keepsConnection)
    }

    /// Answers 413 to a request of which only the parameters have been read.
    /// - Returns: whether the answer was sent.
    func answerTooLarge(_ buffer: ReceiveBuffer, headLength: Int, on number: Int32, beforeWaiting: @escaping () -> Void)
        -> Bool
    {
        let request = buffer.withBytes(first: headLength) { codec.decode($0) }
        return send(state.refuse(.contentTooLarge), to: request, withoutBody: false, on: number, beforeWaiting)
    }

    /// The answer, whatever happens, and whether it goes without its body.
    private func respond(_ whole: WholeRequest, _ postponing: Postponing) -> (Response, isHead: Bool) {
        let environment = whole.environment
        if case .resumed(let postponement) = postponing, let continuation = postponement as? Continuation {
            return (ask(environment.id) { try continuation.answer() }, environment.isHead)
        }
        do throws(CGIEnvironment.Malformed) {
            let length = try environment.contentLength()
            guard length <= state.limits.bodyBytes else { throw .contentLengthTooLarge }
            var request = try environment.request()
            guard whole.body.count == length else { throw .contentLength }
            request.body = whole.body
            request.postponing = postponing
            return (ask(request.id) { try state.responder.respond(to: request) }, request.method == .head)
        } catch .contentLengthTooLarge {
            state.counters.count(.bodyTooLarge)
            return (state.refuse(.contentTooLarge), false)
        } catch {
            state.counters.count(.malformed)
            state.logger.notice(
                "Malformed request", metadata: ["request": "\(environment.id)", "part": "\(error)"])
            return (state.refuse(.badRequest), false)
        }
    }

    /// The answer to a request that cannot wait without a thread: the worker waits where the request has acted already.
    private func withoutRoom(for response: Response, id: String) -> Response {
        if let continuation = response.continuation { return ask(id) { try continuation.answer() } }
        state.counters.count(.waitingRoomFull)
        return state.refuse(.serviceUnavailable)
    }

    private func ask(_ id: String, _ respond: () throws -> Response) -> Response {
        do {
            return try respond()
        } catch {
            // The type alone: an error's text may hold anything.
            state.logger.error(
                "The responder failed", metadata: ["request": "\(id)", "error": "\(type(of: error))"])
            return state.refuse(.internalServerError)
        }
    }

    private func send(
        _ response: Response, to request: WholeRequest, withoutBody: Bool, on number: Int32,
        _ beforeWaiting: @escaping () -> Void
    ) -> Bool {
        do throws(CGIResponseEncoder.IllegalField) {
            try bytes.write(response, withoutBody: withoutBody)
        } catch {
            state.logger.error("An answer had an illegal field", metadata: ["request": "\(request.environment.id)"])
            bytes.writeInternalServerError()
        }
        let isSent = codec.encode(bytes.bytes, to: request, on: number, beforeWaiting: beforeWaiting)
        state.counters.answered.wrappingAdd(1, ordering: .relaxed)
        return isSent
    }
}
