// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub

/// Registration ids and registrations, one by one.
struct RegistrationRoutes: Sendable {
    let hub: any ServableHub
    let isShared: Bool
    /// By policies.
    let writes: RateMeter

    var routes: [HubRoute] {
        [
            HubRoute(.post, "/{hub}/registrationids", needs: .listen) { call, _ in createID(call) },
            HubRoute(.post, "/{hub}/registrations", needs: .listen) { call, _ in try create(call) },
            HubRoute(.put, "/{hub}/registrations/{id}", needs: .listen) { try put($0, Self.id($1)) },
            HubRoute(.get, "/{hub}/registrations/{id}", needs: .listen) { try get($0, Self.id($1)) },
            HubRoute(.delete, "/{hub}/registrations/{id}", needs: .listen) { try delete($0, Self.id($1)) },
        ]
    }

    private static func id(_ parameters: PathParameters) throws(HubFault) -> RegistrationID {
        guard let id = RegistrationID(parameters["id"]) else { throw .bad("The registration id is invalid.") }
        return id
    }

    /// `POST /{hub}/registrationids`
    private func createID(_ call: HubCall) -> Response {
        Response(status: .created, fields: [.location: call.url(of: hub.newRegistrationID().description)])
    }

    /// `POST /{hub}/registrations`
    private func create(_ call: HubCall) throws -> Response {
        try writes.count(call)
        let stored = try hub.create(try description(in: call))
        let link = call.url(of: stored.id?.description ?? "")
        var response = HubResponse.registration(stored, link: link, now: call.now)
        response.fields[.contentLocation] = link
        return response
    }

    /// `PUT /{hub}/registrations/{id}`: without `If-Match` creates or replaces; with it, replaces that version only.
    private func put(_ call: HubCall, _ id: RegistrationID) throws -> Response {
        try writes.count(call)
        let condition = try VersionCondition(field: call.request.fields[.ifMatch])
        let stored = try hub.put(try description(in: call), under: id, replacing: condition)
        return HubResponse.registration(stored, link: call.selfURL, now: call.now)
    }

    /// `GET /{hub}/registrations/{id}`
    private func get(_ call: HubCall, _ id: RegistrationID) throws -> Response {
        HubResponse.registration(try hub.find(id), link: call.selfURL, now: call.now)
    }

    /// `DELETE /{hub}/registrations/{id}`: `If-Match` is required.
    private func delete(_ call: HubCall, _ id: RegistrationID) throws -> Response {
        try writes.count(call)
        guard let condition = try VersionCondition(field: call.request.fields[.ifMatch]) else {
            throw HubFault.versionMismatch
        }
        try hub.remove(id, at: condition)
        return Response(status: .ok)
    }

    private func description(in call: HubCall) throws -> RegistrationDescription {
        let description = try AtomEntry.decodeRequest(call.request.body)
        guard !isShared || !description.tags.contains(where: \.isReserved) else { throw HubFault.reservedTag }
        return description
    }
}

/// The condition of a write, in the five spellings that clients use: `W/"2"`, `"2"`, `2`, `*` and `"*"`.
extension VersionCondition {
    /// - Throws: `HubFault`, 412, for any other text.
    init(_ text: String) throws(HubFault) {
        var bytes = Substring(text).utf8
        while bytes.first == UInt8(ascii: " ") { bytes.removeFirst() }
        while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
        if bytes.starts(with: "W/".utf8) || bytes.starts(with: "w/".utf8) { bytes = bytes.dropFirst(2) }
        if bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") {
            bytes = bytes.dropFirst().dropLast()
        }
        if bytes.elementsEqual("*".utf8) {
            self = .any
        } else if let version = Int(String(Substring(bytes))), version > 0, bytes.first != UInt8(ascii: "+") {
            self = .version(version)
        } else {
            throw .versionMismatch
        }
    }

    /// Nil without the field.
    init?(field text: String?) throws(HubFault) {
        guard let text else { return nil }
        self = try VersionCondition(text)
    }
}
