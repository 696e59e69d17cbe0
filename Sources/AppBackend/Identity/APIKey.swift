// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes

/// The header field `apikey`, in which apps of the tutorial for .NET MAUI show their key: an app token.
enum APIKey {
    static let field = "apikey"
    /// The routes of that tutorial. Elsewhere the field says nothing.
    static let routes: Set<String> = [Path.installations, Path.installations + "/{id}", Path.requests]

    /// Whether the request has no key, or one without a quotation mark, which no app token has.
    static func isReadable(_ request: Request) -> Bool {
        request.fields[named: field].map { !$0.utf8.contains(UInt8(ascii: "\"")) } ?? true
    }
}

extension Request {
    /// The same request with its key in `Authorization`, where an app token belongs. Beside `Authorization` a key says nothing.
    /// A key that is no app token is a wrong one, and never a token of an issuer.
    /// - Parameter route: the pattern of the request's route.
    func withAPIKey(at route: String?) -> Request {
        guard !fields.contains(.authorization), let route, APIKey.routes.contains(route),
            let key = fields[named: APIKey.field], !key.isEmpty
        else { return self }
        var request = self
        let isToken = key.utf8.starts(with: AppTokenText.prefix.utf8)
        request.fields[.authorization] = "Bearer " + (isToken ? key : AppTokenText.prefix)
        return request
    }
}
