// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store

/// A notification hub of one's own: it keeps registrations and messages in a `HubStore`, and hands messages to the
/// worker that delivers them. `HubServer` serves it to programs elsewhere, by `served`.
package struct BuiltInHub: ServableHub {
    let store: any HubStore
    /// Where its registrations are. No operation on registrations finds those of the other namespace.
    private(set) var namespace = HubNamespace.backend
    private let isShared: Bool
    let reader: RegistrationReader
    /// Finds whom a message reaches.
    var selection: TargetSelection
    /// Delivers to the platforms that it has drivers for; nil: there is none.
    let worker: DeliveryWorker?
    /// Seconds since 1970.
    let now: @Sendable () -> Int64
    private(set) var trackingID: String?

    /// - Parameters:
    ///   - worker: delivers what is sent to the platforms that it has drivers for, from the same store; the caller
    ///     runs it. What is sent to others is recorded as `Skipped`.
    ///   - isShared: whether sends of the backend reach the registrations of the served hub, and the other way round.
    ///   - now: seconds since 1970.
    ///   - onUnreadable: hears, once of each, of registrations in the store that cannot be read; lists and sends pass
    ///     them over.
    package init(
        store: any HubStore, worker: DeliveryWorker? = nil, isShared: Bool = false,
        now: @escaping @Sendable () -> Int64, onUnreadable: @escaping @Sendable (StoreError) -> Void = { _ in }
    ) {
        self.store = store
        self.worker = worker
        self.isShared = isShared
        self.now = now
        reader = RegistrationReader(report: onUnreadable)
        selection = TargetSelection(store: store, reader: reader)
        selection.namespaces = reach
    }

    /// The hub that programs elsewhere have a key of: on the same store, with the same worker, and with registrations of its own.
    package var served: BuiltInHub {
        var hub = self
        hub.namespace = .served
        hub.selection.namespaces = hub.reach
        return hub
    }

    /// The namespaces whose devices its messages reach.
    private var reach: [HubNamespace] { isShared ? HubNamespace.allCases : [namespace] }

    /// The hub writes no log of its own: its errors name their causes, and its caller logs them with that id.
    package func tracking(_ id: String) -> any Hub {
        var hub = self
        hub.trackingID = id
        return hub
    }

    /// What the store throws, as this hub says it.
    func storing<Value>(_ body: () throws(StoreError) -> Value) throws(ServableHubError) -> Value {
        do throws(StoreError) {
            return try body()
        } catch {
            throw ServableHubError(error)
        }
    }
}

extension ServableHubError {
    init(_ error: StoreError) {
        switch error {
        case .conflict: self = .conflict
        case .invalidContinuationToken: self = .invalid("The continuation token is invalid.")
        case .quotaExceeded, .shareExceeded: self = .limitReached(.storedRecords, cause: "\(error)")
        case .busy(let seconds):
            self = .storage(HubStorageError(.busy, retryAfterSeconds: max(seconds, 1), cause: "\(error)"))
        case .full, .readOnly:
            self = .storage(HubStorageError(.full, retryAfterSeconds: Self.retryAfterSeconds, cause: "\(error)"))
        case .poisoned, .damaged, .notReady, .unavailable:
            self = .storage(HubStorageError(.unavailable, retryAfterSeconds: Self.retryAfterSeconds, cause: "\(error)"))
        }
    }
}
