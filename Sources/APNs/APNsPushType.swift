// SPDX-License-Identifier: Apache-2.0

/// What a notification is for (`apns-push-type`). Apple delays or drops one whose type does not agree with its payload.
enum APNsPushType: String, CaseIterable {
    case alert, background, voip, complication, fileprovider, location, liveactivity, controls, widgets, pushtotalk, mdm

    /// What follows the app's bundle id in `apns-topic`.
    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .controls: ".push-type.controls"
        case .widgets: ".push-type.widgets"
        case .pushtotalk: ".voip-ptt"
        }
    }

    /// The longest payload, in bytes.
    var maximumPayload: Int { self == .voip ? 5120 : 4096 }

    /// Apple's default is 10, at once; a background push must ask for 5.
    var defaultPriority: Int { self == .background ? 5 : 10 }

    /// Whether Apple defines members of `aps` without which the notification does nothing. Of the others the app reads
    /// what it likes: VoIP and file provider notifications often have no `aps`.
    var needsAps: Bool {
        switch self {
        case .alert, .background, .liveactivity, .controls, .widgets: true
        case .voip, .complication, .fileprovider, .location, .pushtotalk, .mdm: false
        }
    }
}
