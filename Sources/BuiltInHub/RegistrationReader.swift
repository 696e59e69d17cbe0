// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store
internal import System

/// Reads stored registrations for lists and sends, which one that cannot be read must not end: it is passed over, and
/// reported the first time.
final class RegistrationReader: Sendable {
    /// So many are reported; an operator who has more knows by then.
    static let maximumReported = 1024

    private let report: @Sendable (StoreError) -> Void
    private let reported = Lock<Set<String>>([])

    /// - Parameter report: hears `StoreError.damaged`, which names the registration.
    init(report: @escaping @Sendable (StoreError) -> Void) {
        self.report = report
    }

    /// - Returns: nil when the record is not what this hub writes.
    func read(_ registration: HubRegistration) -> RegistrationDescription? {
        do throws(StoreError) {
            return try registration.decoded()
        } catch {
            let isNew = reported.withLock {
                $0.count < Self.maximumReported && $0.insert(registration.id).inserted
            }
            if isNew { report(error) }
            return nil
        }
    }
}
