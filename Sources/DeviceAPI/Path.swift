// SPDX-License-Identifier: Apache-2.0

/// The paths of the contract, spelled once for both ends.
public enum Path {
    public static let register = "/api/register"
    public static let notifications = "/api/notifications"
    public static let health = "/health"
}
