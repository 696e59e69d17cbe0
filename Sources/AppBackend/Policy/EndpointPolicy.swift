// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
package import NotificationHub

/// Which devices the hub may push to: a device whose service is never called must not take itself for registered.
package struct EndpointPolicy: Sendable {
    private let mayPush: @Sendable (DeviceHandle) -> Bool

    /// - Parameter mayPush: whether the hub sends to such a device at all.
    package init(mayPush: @escaping @Sendable (DeviceHandle) -> Bool = { _ in true }) {
        self.mayPush = mayPush
    }

    /// - Parameter field: where the request has the handle.
    /// - Throws: `Problem` 400 for a device that is never sent to.
    func check(_ handle: DeviceHandle, field: String) throws(Problem) {
        guard mayPush(handle) else {
            throw Problem(.invalidHandle, "The handle is at a host that this server does not push to.", field: field)
        }
    }
}
