// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Text

/// Answers only callers on this host, such as monitors, without credentials. All others get 404.
struct LoopbackOnly: Responder {
    let inner: any Responder

    /// - Throws: `Problem`: 404 for an address that is not of this host, 405 for anything but GET and HEAD.
    func respond(to request: Request) throws -> Response {
        guard Self.isLocal(request.remoteAddress) else {
            throw Problem(.notFound, "There is nothing at this path.")
        }
        guard request.method.ofRoute == .get else {
            throw Problem(RoutingError.methodNotAllowed(HTTPRequest.Method.get.withHead))
        }
        var response = try inner.respond(to: request)
        response.fields[.cacheControl] = "no-store"
        return response
    }

    /// The loopback addresses of both families; nil is a caller within the process or on a unix socket.
    static func isLocal(_ address: String?) -> Bool {
        address.map { Loopback.contains($0) } ?? true
    }
}
