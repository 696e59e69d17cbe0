// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON

/// What a running service says of its configuration: `GET /api/config`.
struct RunningConfiguration: Equatable, Sendable {
    var realm: String
    /// The platforms' names.
    var platforms: [String]
    /// By which key browsers know the site.
    var vapidPublicKey: String?

    init(realm: String, platforms: [String], vapidPublicKey: String?) {
        self.realm = realm
        self.platforms = platforms
        self.vapidPublicKey = vapidPublicKey
    }

    /// Nil, when the answer is not the service's.
    init?(_ response: Response) {
        guard response.status == .ok, let json = try? JSONValue(parsing: response.body),
            let realm = json["Realm"]?.string, let platforms = json["Platforms"]?.array
        else { return nil }
        self.init(
            realm: realm, platforms: platforms.compactMap { $0["Name"]?.string },
            vapidPublicKey: json["VapidPublicKey"]?.string)
    }

    /// The keys of the configuration in which they differ, but for what the service does with browsers.
    func differences(from other: RunningConfiguration) -> [String] {
        (realm == other.realm ? [] : ["auth.realm"]) + (platforms == other.platforms ? [] : ["hub.platforms"])
    }
}
