// SPDX-License-Identifier: Apache-2.0
internal import HTTP
package import HTTPTypes

/// The header fields of the hub's language that HTTP itself does not name.
package enum HubField: String, Sendable {
    /// What the caller calls the request, in both logs.
    case trackingID = "TrackingId"
    case apiVersion = "x-ms-version"
    /// In an answer: there is another page, and this is its name.
    case continuationToken = "x-ms-continuationtoken"
    case format = "ServiceBusNotification-Format"
    /// A tag expression; absent: everybody.
    case tags = "ServiceBusNotification-Tags"
    /// The handle, in a send that passes the registrations by.
    case deviceHandle = "ServiceBusNotification-DeviceHandle"
    /// When a scheduled message is to be sent.
    case scheduleTime = "ServiceBusNotification-ScheduleTime"
    /// In the built-in hub's answer to a send, `NoTargetFound`: no device is addressed. Azure does not say so at once.
    case sendState = "AppBackend-State"
}

extension HTTPFields {
    /// The field's value. Names are compared without case.
    package subscript(_ field: HubField) -> String? {
        get { self[named: field.rawValue] }
        set { self[named: field.rawValue] = newValue }
    }
}
