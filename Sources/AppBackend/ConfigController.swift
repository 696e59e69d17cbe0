// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub

/// `GET /api/config`: what a page must know before its user logs in. It needs no credentials.
///
/// A malformed `Idempotency-Key` is refused here as it is at a send, so that a client can check whether the field arrives
/// without logging in or sending anything; so are an `App-Backend-User` that is not percent-encoded, and an `apikey` with a
/// quotation mark.
struct ConfigController: Sendable {
    /// It stays the same as long as the process lives.
    private let json: [UInt8]

    /// - Parameter isSecureOnly: whether every send is kept and only its id leaves, also one with `pns`.
    init(_ configuration: PublicConfiguration, platforms: [Platform], realm: String, isSecureOnly: Bool) {
        let json = JSONWriter.object { json in
            json.name("VapidPublicKey")
            if let key = configuration.vapidPublicKey { json.string(key) } else { json.null() }
            json.member("Platforms", platforms) { platform, json in
                json.member("Name", platform.rawValue)
                json.member("Delivers", configuration.deliveringPlatforms.contains(platform))
            }
            json.member("Realm", realm)
            json.member("MaximumMessageBytes", PublicConfiguration.maximumMessageBytes)
            json.member("SecureOnly", isSecureOnly)
        }
        self.json = json.bytes
    }

    var routes: [Route<RequestAction>] {
        [Route(.get, Path.config) { request, _ in try read(request) }]
    }

    /// - Throws: `Problem` 400 for a malformed key or name.
    private func read(_ request: Request) throws(Problem) -> Response {
        _ = try IdempotencyHandler.key(of: request)
        guard ExpectedUser.isReadable(request) else {
            throw Problem(
                .invalidValue, "App-Backend-User must be a user's name, percent-encoded.", field: "App-Backend-User")
        }
        guard APIKey.isReadable(request) else {
            throw Problem(.invalidValue, "apikey must be an app token.", field: "apikey")
        }
        var response = Response.json(json)
        // It may be kept, and is asked after each time: another start may have another key.
        response.fields[.cacheControl] = "no-cache"
        return response
    }
}
