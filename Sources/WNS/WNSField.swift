// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// The header fields of WNS, of requests and of answers.
enum WNSField: String {
    case type = "X-WNS-Type"
    /// Whether a notification is kept for a device that is away.
    case cachePolicy = "X-WNS-Cache-Policy"
    /// Seconds for which it is kept.
    case timeToLive = "X-WNS-TTL"
    /// A later notification of the same tag replaces an earlier one, of the same group where there is one.
    case tag = "X-WNS-Tag"
    case group = "X-WNS-Group"
    /// Whether the answer shall say how the device is connected.
    case requestForStatus = "X-WNS-RequestForStatus"
    case suppressPopup = "X-WNS-SuppressPopup"
    /// `received`, `dropped` or `channelthrottled`.
    case status = "X-WNS-Status"
    case errorDescription = "X-WNS-Error-Description"
}

extension HTTPFields {
    /// The field's value. Names are compared without case.
    subscript(_ field: WNSField) -> String? {
        get { self[named: field.rawValue] }
        set { self[named: field.rawValue] = newValue }
    }
}
