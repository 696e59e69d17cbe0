// SPDX-License-Identifier: Apache-2.0
import Store
import Text

import class System.Lock

/// The built-in hub's store, of which every call throws while it has a trouble.
final class TroubledHubStore: HubStore {
    private let inner: any HubStore
    private let trouble = Lock<StoreError?>(nil)

    init(_ inner: any HubStore) {
        self.inner = inner
    }

    func begin(_ error: StoreError) { trouble.withLock { $0 = error } }
    func heal() { trouble.withLock { $0 = nil } }

    private func fail() throws(StoreError) {
        if let error = trouble.withLock(\.self) { throw error }
    }

    func hubRegistration(_ id: String) throws(StoreError) -> HubRegistration? {
        try fail()
        return try inner.hubRegistration(id)
    }

    func putHubRegistration(_ registration: HubRegistration) throws(StoreError) -> HubRegistration {
        try fail()
        return try inner.putHubRegistration(registration)
    }

    func removeHubRegistration(_ id: String, version: Int?) throws(StoreError) -> Bool {
        try fail()
        return try inner.removeHubRegistration(id, version: version)
    }

    func hubRegistrations(channel: String) throws(StoreError) -> [HubRegistration] {
        try fail()
        return try inner.hubRegistrations(channel: channel)
    }

    func hubRegistrations(tag: String, after: String?, limit: Int) throws(StoreError) -> Page<HubRegistration> {
        try fail()
        return try inner.hubRegistrations(tag: tag, after: after, limit: limit)
    }

    func forEachHubRegistration(tag: String, _ body: (HubRegistration) -> Void) throws(StoreError) {
        try fail()
        try inner.forEachHubRegistration(tag: tag, body)
    }

    func hubRegistrations(
        in namespace: HubNamespace?, after: String?, limit: Int
    ) throws(StoreError) -> Page<HubRegistration> {
        try fail()
        return try inner.hubRegistrations(in: namespace, after: after, limit: limit)
    }

    func putHubMessage(_ message: HubMessage) throws(StoreError) {
        try fail()
        try inner.putHubMessage(message)
    }

    func hubMessage(_ id: String, now: Timestamp) throws(StoreError) -> HubMessage? {
        try fail()
        return try inner.hubMessage(id, now: now)
    }
}
