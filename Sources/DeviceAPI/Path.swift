// SPDX-License-Identifier: Apache-2.0

/// The paths of the contract, spelled once for both ends.
public enum Path {
    /// Devices and their registrations.
    public static let register = "/api/register"
    /// Sends, and the secure notifications of the caller.
    public static let notifications = "/api/notifications"
    /// For monitors on the backend's own host.
    public static let health = "/health"
}
