// SPDX-License-Identifier: Apache-2.0
internal import Text

/// Which registrations belong to one device, however its handle is spelled.
package struct ChannelQuery: Equatable, Sendable {
    /// What `DeviceHandle.channel` may be; any of them.
    package let channels: [String]
    /// The registration must be of one of these platforms; empty: of any.
    package let platforms: [Platform]

    /// - Parameters:
    ///   - channels: empty texts and repetitions are left out.
    ///   - platforms: empty: any.
    package init(channels: [String], platforms: [Platform]) {
        var kept: [String] = []
        for channel in channels where !channel.isEmpty && !kept.contains(channel) { kept.append(channel) }
        self.channels = kept
        self.platforms = platforms
    }

    /// A handle of any platform, in any client's spelling: the text as it is, as a token, and as a URI in the stored form:
    /// with and without the slash at its end, percent-encoded or not.
    package init(anyForm text: String, platforms: [Platform] = []) {
        self.init(channels: [text] + Self.token(text) + Self.uris(text), platforms: platforms)
    }

    /// A token of Apple's, with digits in either case.
    package init(token text: String) {
        self.init(channels: Self.token(text), platforms: [.apns])
    }

    /// Whether a registration of that platform is meant.
    package func matches(_ platform: Platform) -> Bool { platforms.isEmpty || platforms.contains(platform) }

    private static func token(_ text: String) -> [String] {
        text.utf8.allSatisfy { ASCII.hexValue($0) != nil } ? [text.uppercased()] : []
    }

    private static func uris(_ text: String) -> [String] {
        var forms: [String] = []
        for uri in [text, PercentEncoding.decode(text.utf8)].compactMap(\.self) {
            let trimmed = uri.hasSuffix("/") ? String(uri.dropLast()) : uri
            for candidate in [uri, trimmed, trimmed + "/"] {
                if let handle = try? DeviceHandle.wns(candidate) { forms.append(handle.channel) }
            }
        }
        return forms
    }
}
