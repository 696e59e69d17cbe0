// SPDX-License-Identifier: Apache-2.0
public import DeviceAPI

extension NotificationClient {
    /// As `secureMessage(_:)`, for a caller whom the system gives little time: a notification service extension has some 30 seconds.
    /// - Parameter seconds: it returns or throws by then, also when the transport does not heed that it is cancelled.
    /// - Throws: `unreachable` at the deadline; else as `secureMessage(_:)`.
    public func secureMessage(
        _ reference: SecureReference, within seconds: Double
    ) async throws(DeviceClientError) -> SecureMessage {
        let first = FirstOutcome<Result<SecureMessage, DeviceClientError>>()
        let fetch = Task { first.end(with: await self.result(of: reference)) }
        let alarm = Task {
            try? await Task.sleep(nanoseconds: Self.nanoseconds(seconds))
            first.end(with: .failure(.unreachable(reason: "No answer came within \(seconds) s.")))
        }
        let result = await withTaskCancellationHandler {
            await first.value
        } onCancel: {
            first.end(with: .failure(.cancelled))
        }
        fetch.cancel()
        alarm.cancel()
        return try result.get()
    }

    private func result(of reference: SecureReference) async -> Result<SecureMessage, DeviceClientError> {
        do {
            return .success(try await secureMessage(reference))
        } catch {
            return .failure(error)
        }
    }

    /// Up to a day; what is no number is no time.
    private static func nanoseconds(_ seconds: Double) -> UInt64 {
        UInt64(min(max(seconds.isNaN ? 0 : seconds, 0), 86_400) * 1_000_000_000)
    }
}
