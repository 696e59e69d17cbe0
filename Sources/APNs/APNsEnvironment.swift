// SPDX-License-Identifier: Apache-2.0

/// Which of Apple's two services: a device's token is good at one of them, which depends on how its app was signed.
package enum APNsEnvironment: String, CaseIterable, Sendable {
    /// Apps from the App Store, TestFlight, ad-hoc and enterprise distribution.
    case production
    /// Apps that Xcode has put on a device.
    case sandbox

    /// The host that pushes go to, over HTTPS.
    package var authority: String {
        switch self {
        case .production: "api.push.apple.com"
        case .sandbox: "api.sandbox.push.apple.com"
        }
    }

    /// The host and port that manage broadcast channels.
    package var channelAuthority: String {
        switch self {
        case .production: "api-manage-broadcast.push.apple.com:2196"
        case .sandbox: "api-manage-broadcast.sandbox.push.apple.com:2195"
        }
    }
}
