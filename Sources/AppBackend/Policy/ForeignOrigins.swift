// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Text

/// The other sites whose pages may call the API, by the protocol of browsers (CORS; Fetch Standard, section 3.2).
///
/// A page of such a site is trusted as an app is: it shows credentials of its own in `Authorization`. What a browser adds by
/// itself (cookies, and whom the web server has authenticated) does not count for it.
package struct ForeignOrigins: Sendable {
    private let origins: Set<String>

    /// - Parameter origins: `https://app.example.com`, as browsers write it.
    package init(_ origins: [String] = []) { self.origins = Set(origins) }

    /// Whether a browser would write an origin like this: scheme, host, and the port where it is not the scheme's own.
    /// Plain `http` is for hosts of the developer's own computer.
    package static func isOrigin(_ text: String) -> Bool {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard text == text.lowercased(), parts.count == 2, let scheme = parts.first, let host = parts.last,
            !host.isEmpty,
            scheme.utf8.first.map(ASCII.isLetter) == true,
            scheme.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || "+-.".utf8.contains($0) }),
            host.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || "-.:[]".utf8.contains($0) })
        else { return false }
        switch scheme {
        case "https": return !host.hasSuffix(":443")
        case "http": return ["localhost", "127.0.0.1", "[::1]"].contains { host == $0 || host.hasPrefix("\($0):") }
        default: return true
        }
    }

    /// The origin of the page that made a request, if it may; nil also for an app's request, and for this site's own page.
    func origin(of request: Request) -> String? {
        guard !origins.isEmpty, let origin = request.fields[.origin], origins.contains(origin),
            RequestOrigin(request) != .own
        else { return nil }
        return origin
    }

    /// True if the browser may have attached remembered Basic credentials. `application/json` forces a CORS preflight, and
    /// then browsers attach none.
    static func mayHaveAddedPassword(_ request: Request) -> Bool {
        request.method == .post && request.fields.authorization("basic") != nil
            && request.fields[.contentType]?.lowercased().hasPrefix("application/json") != true
    }

    static let unclearPassword = Problem(
        .crossSite, "A page of another site that shows a password says Content-Type: application/json.",
        field: "Content-Type")

    /// The request as an app would have made it.
    static func withoutBrowser(_ request: Request) -> Request {
        var request = request
        for name in [.origin, ExtensionField.site.name, .cookie] as [HTTPField.Name?] {
            if let name { request.fields[name] = nil }
        }
        request.authenticatedUser = nil
        return request
    }

    /// To the question that a browser asks before the request itself, without credentials.
    static func preflight(_ origin: String) -> Response {
        var response = Response(status: .noContent)
        response.fields[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, DELETE"
        response.fields[.accessControlAllowHeaders] = "Authorization, Content-Type, Idempotency-Key, If-None-Match"
        // A day; Chromium asks again after two hours.
        response.fields[.accessControlMaxAge] = "86400"
        return allowing(response, origin)
    }

    /// The answer, which the page's script may read.
    static func allowing(_ response: Response, _ origin: String) -> Response {
        var response = response
        response.fields[.accessControlAllowOrigin] = origin
        response.fields[.accessControlExposeHeaders] = "ETag, Idempotency-Replayed, Retry-After, WWW-Authenticate"
        response.fields[.vary] = "Origin"
        return response
    }
}
