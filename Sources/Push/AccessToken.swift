// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import Text

/// A bearer token (RFC 6750), and for how long it is accepted. It prints as `***`.
package struct AccessToken: Sendable {
    /// In bytes. Google's tokens have up to 2048, those of workload identity federation up to 12 KiB.
    package static let maximumLength = 16_384
    /// In seconds. A service that promises more is asked again after this time.
    package static let maximumLifetime = 7 * 86_400

    package let text: Secret
    /// Seconds from the moment when it was asked for.
    package let lifetime: Int

    /// - Returns: nil for a text that is empty, too long or not visible ASCII, and for a lifetime of no second.
    package init?(_ text: String, lifetime: Int) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            lifetime > 0
        else { return nil }
        self.text = Secret(text)
        self.lifetime = min(lifetime, Self.maximumLifetime)
    }
}

/// Where access tokens come from: one way to sign in at one service.
package protocol TokenSource: Sendable {
    /// Asks for one token, with as many requests as that takes. It keeps nothing and repeats nothing.
    /// - Parameters:
    ///   - sender: ends each request within a deadline of its own.
    ///   - completion: called exactly once, possibly before this call returns; be quick.
    func fetch(
        by sender: any RequestSender, _ completion: @escaping @Sendable (Result<AccessToken, CredentialError>) -> Void)
}
