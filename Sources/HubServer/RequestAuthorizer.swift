// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Text

/// An operation of the hub: where it is found, what one needs to be granted, what it does.
struct HubRoute: Sendable {
    let method: HTTPRequest.Method
    let pattern: String
    let needs: AccessRights
    let operation: @Sendable (HubCall, PathParameters) throws -> Response
    /// Whether the path begins with the name of this hub; else with any word.
    var isInHub = true
    /// The largest body, in bytes.
    var maximumBody = HubNotification.maximumRequest

    init(
        _ method: HTTPRequest.Method, _ pattern: String, needs: AccessRights,
        _ operation: @escaping @Sendable (HubCall, PathParameters) throws -> Response
    ) {
        self.method = method
        self.pattern = pattern
        self.needs = needs
        self.operation = operation
    }
}

/// Checks every request before anything is done for it.
struct RequestAuthorizer: Sendable {
    let hub: String
    let verifier: SharedAccessSignature.Verifier
    /// Is in links where the request names no host, as calls within the process may.
    let defaultHost: String
    /// Seconds since 1970.
    let now: @Sendable () -> Int64

    /// - Throws: `HubFault`: 413 for a body above the route's limit; 415 for a compressed body; 401 for a token that is malformed,
    ///   expired, or of another host or path, and for one that does not grant what is needed; 404 for another hub; 400 for a
    ///   malformed query.
    func authorize(_ request: Request, for route: HubRoute? = nil) throws(HubFault) -> HubCall {
        let maximumBody = route?.maximumBody ?? HubNotification.maximumRequest
        guard request.body.count <= maximumBody else {
            throw .tooLarge(maximumBody)
        }
        guard !request.isEncoded else {
            var fault = HubFault(.unsupportedMediaType, "The request's body must not be compressed.")
            fault.fields[.acceptEncoding] = "identity"
            throw fault
        }
        let now = now()
        let key = try key(of: request, now: now)
        guard route?.isInHub == false || isInHub(request) else { throw .noSuchHub }
        var request = request
        if request.authority.isEmpty { request.authority = defaultHost }
        let call = try HubCall(request, key: key, now: now)
        try call.require(route?.needs ?? [])
        return call
    }

    private func isInHub(_ request: Request) -> Bool {
        let first = request.path.utf8.split(separator: UInt8(ascii: "/")).first ?? ""[...].utf8
        return PercentEncoding.decode(first)?.lowercased() == hub.lowercased()
    }

    private func key(of request: Request, now: Int64) throws(HubFault) -> SharedAccessKey {
        do throws(SignatureError) {
            return try verifier.verify(header: request.fields[.authorization], path: request.path, now: now)
        } catch {
            throw .unauthorized(error)
        }
    }
}

extension SignatureError {
    /// For the log: what it says is of the token's form, never of its content.
    var words: String {
        switch self {
        case .missing: "there is none"
        case .malformed: "it is malformed"
        case .unknownKey: "no policy of the hub has its key name"
        case .wrongSignature: "no key of its policy has made it"
        case .expired: "it has expired; both clocks must be right"
        case .otherHost: "it is for a host that localHub.hosts does not name"
        case .otherPath: "it is for another path than the request's"
        }
    }
}
