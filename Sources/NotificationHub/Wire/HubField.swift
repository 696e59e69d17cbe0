// SPDX-License-Identifier: Apache-2.0
package import HTTP

/// The header fields of the hub's language that HTTP itself does not name.
extension ExtensionField {
    /// What the caller calls the request, in both logs.
    package static let trackingID = ExtensionField("TrackingId")
    package static let apiVersion = ExtensionField("x-ms-version")
    /// In an answer: there is another page, and this is its name.
    package static let continuationToken = ExtensionField("x-ms-continuationtoken")
    package static let format = ExtensionField("ServiceBusNotification-Format")
    /// A tag expression; absent: everybody.
    package static let tags = ExtensionField("ServiceBusNotification-Tags")
    /// The handle, in a send that passes the registrations by.
    package static let deviceHandle = ExtensionField("ServiceBusNotification-DeviceHandle")
    /// When a scheduled message is to be sent.
    package static let scheduleTime = ExtensionField("ServiceBusNotification-ScheduleTime")
    /// In the built-in hub's answer to a send, `NoTargetFound`: no device is addressed. Azure does not say so at once.
    package static let sendState = ExtensionField("AppBackend-State")
}
