// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub

/// Installations: a device as its app's SDK registers it whole.
struct InstallationRoutes: Sendable {
    let hub: any ServableHub
    let isShared: Bool
    /// By policies.
    let writes: RateMeter

    private static let path = "/{hub}/installations/{id}"

    var routes: [HubRoute] {
        [
            HubRoute(.put, Self.path, needs: .listen) { try put($0, $1["id"]) },
            HubRoute(.get, Self.path, needs: .listen) { try get($0, $1["id"]) },
            HubRoute(.patch, Self.path, needs: .listen) { try change($0, $1["id"]) },
            HubRoute(.delete, Self.path, needs: .listen) { try delete($0, $1["id"]) },
        ]
    }

    /// `PUT /{hub}/installations/{id}`
    private func put(_ call: HubCall, _ id: String) throws -> Response {
        try writes.count(call)
        let installation = try Installation(decoding: call.request.body, id: id)
        try check(installation)
        try hub.put(installation)
        return Self.answer(.ok)
    }

    /// `GET /{hub}/installations/{id}`: JSON that calls itself XML, as recorded.
    private func get(_ call: HubCall, _ id: String) throws -> Response {
        Self.answer(.ok, try hub.installation(id).encode())
    }

    /// `PATCH /{hub}/installations/{id}`
    private func change(_ call: HubCall, _ id: String) throws -> Response {
        try writes.count(call)
        try hub.change(id, by: try InstallationPatch(decoding: call.request.body), check: check)
        return Self.answer(.ok)
    }

    /// `DELETE /{hub}/installations/{id}`: also if there is none.
    private func delete(_ call: HubCall, _ id: String) throws -> Response {
        try writes.count(call)
        try hub.removeInstallation(id)
        return Self.answer(.noContent)
    }

    private func check(_ installation: Installation) throws(ServableHubError) {
        guard !isShared || !installation.tags.contains(where: \.isReserved) else {
            throw .invalid(HubFault.reservedTag.message)
        }
    }

    private static func answer(_ status: HTTPResponse.Status, _ body: [UInt8] = []) -> Response {
        Response(status: status, fields: [.contentType: HubResponse.xml], body: body)
    }
}

extension RateMeter {
    /// - Throws: `HubFault`, 429, for a policy that has written too many registrations.
    func count(_ call: HubCall) throws(HubFault) {
        if let seconds = take(call.key.name) { throw .tooManyRegistrations(retryAfterSeconds: seconds) }
    }
}
