// SPDX-License-Identifier: Apache-2.0
import Text

/// The paths of the contract, spelled once for both ends.
public enum Path {
    /// Devices and their registrations.
    public static let register = "/api/register"
    /// Sends, and the secure notifications of the caller.
    public static let notifications = "/api/notifications"
    /// What became of a send, below its notification id.
    public static let outcomes = "/api/notifications/outcomes"
    /// The caller's messages for later, each below its message id.
    public static let scheduled = "/api/notifications/scheduled"
    /// Installations of apps that were made for the tutorial for .NET MAUI.
    public static let installations = "/api/notifications/installations"
    /// Sends in the form of that tutorial.
    public static let requests = "/api/notifications/requests"
    /// What was sent to the caller: their messages, secure ones and those plain ones that the site keeps.
    public static let inbox = "/api/inbox"
    /// Log-ins that last: a cookie in place of the password.
    public static let session = "/api/session"
    /// The caller's log-ins by cookie, on all their browsers.
    public static let sessions = "/api/sessions"
    /// The caller's password.
    public static let password = "/api/password"
    /// App tokens: what apps and scripts show in place of a password.
    public static let tokens = "/api/tokens"
    /// What administrators do at the page, below it.
    public static let admin = "/api/admin"
    /// What a page must know before a user has logged in.
    public static let config = "/api/config"
    /// For monitors on the backend's own host.
    public static let health = "/health"
    /// For Prometheus on the backend's own host.
    public static let metrics = "/metrics"

    /// Whether something can be called so that a path is to name. What could not be named again could not be removed.
    package static func canName(_ id: String) -> Bool {
        !id.isEmpty && id.isPathSegment
            && !id.hasControls
    }
}

/// What stands before the contract's paths where the backend shares a name with another site: `/push`, for
/// `/push/api/register`. Empty where the name is the backend's own.
package struct PathPrefix: Equatable, Sendable, CustomStringConvertible {
    /// In bytes.
    package static let maximumLength = 200

    /// Begins with a slash and does not end with one, unless it is empty.
    package let text: String

    /// - Parameter text: what follows the host of an address: empty, `/`, `/push` or `/push/`.
    /// - Returns: nil for anything that needs percent-encoding, for empty segments, `.` and `..`, and for a path that ends
    ///   in `api`: the contract's paths begin with that by themselves.
    package init?(_ text: some StringProtocol) {
        let path = text.hasSuffix("/") ? String(text.dropLast()) : String(text)
        guard !path.isEmpty else {
            self.text = ""
            return
        }
        guard path.utf8.count <= Self.maximumLength, path.utf8.first == UInt8(ascii: "/") else { return nil }
        let segments = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard segments.allSatisfy(Self.isPlain), let last = segments.last, !ASCII.equalIgnoringCase(last, "api") else {
            return nil
        }
        self.text = path
    }

    private static func isPlain(_ segment: String) -> Bool {
        !segment.isEmpty && segment.isPathSegment
            && segment.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-._~".utf8.contains($0) }
    }

    package var description: String { text }
}
