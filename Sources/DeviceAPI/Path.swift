// SPDX-License-Identifier: Apache-2.0

/// The paths of the contract, spelled once for both ends.
public enum Path {
    /// Devices and their registrations.
    public static let register = "/api/register"
    /// Sends, and the secure notifications of the caller.
    public static let notifications = "/api/notifications"
    /// What became of a send, below its notification id.
    public static let outcomes = "/api/notifications/outcomes"
    /// Log-ins that last: a cookie in place of the password.
    public static let session = "/api/session"
    /// What a page must know before a user has logged in.
    public static let config = "/api/config"
    /// For monitors on the backend's own host.
    public static let health = "/health"
    /// For Prometheus on the backend's own host.
    public static let metrics = "/metrics"
}
