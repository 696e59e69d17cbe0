// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Text

/// Registration ids and registrations, one by one. Lists are in `RegistrationLists`.
struct RegistrationOperations: Sendable {
    let store: any HubStore
    let reader: RegistrationReader

    /// How often a write is tried when somebody else writes the same registration in between; then it is a 409.
    static let maximumTries = 8

    var routes: [HubRoute] {
        let lists = RegistrationLists(store: store, reader: reader)
        return [
            HubRoute(.post, "/{hub}/registrationids", needs: .listen) { call, _ in createID(call) },
            HubRoute(.post, "/{hub}/registrations", needs: .listen) { call, _ in try create(call) },
            // What it needs depends on the filter; it asks for that itself.
            HubRoute(.get, "/{hub}/registrations", needs: []) { call, _ in try lists.all(call) },
            HubRoute(.get, "/{hub}/tags/{tag}/registrations", needs: .manage) { try lists.byTag($0, $1["tag"]) },
            HubRoute(.put, "/{hub}/registrations/{id}", needs: .listen) { try put($0, Self.id($1)) },
            HubRoute(.get, "/{hub}/registrations/{id}", needs: .listen) { try get($0, Self.id($1)) },
            HubRoute(.delete, "/{hub}/registrations/{id}", needs: .listen) { try delete($0, Self.id($1)) },
        ]
    }

    private static func id(_ parameters: PathParameters) throws(HubRefusal) -> RegistrationID {
        guard let id = RegistrationID(parameters["id"]) else { throw .bad("The registration id is invalid.") }
        return id
    }

    /// `POST /{hub}/registrationids`: nothing is stored before the first PUT under the id.
    private func createID(_ call: HubCall) -> Response {
        HubAnswer.created(location: call.url(of: Self.randomID()))
    }

    /// Two numbers of 63 bits and a partition, as Azure's.
    private static func randomID() -> String {
        "\(Int64.random(in: 1 ... .max))-\(Int64.random(in: 1 ... .max))-1"
    }

    /// `POST /{hub}/registrations`: always a new registration, also for a handle that has one.
    private func create(_ call: HubCall) throws -> Response {
        let description = try Self.description(call.request)
        guard let id = RegistrationID(Self.randomID()) else { throw HubRefusal.bad("The registration id is invalid.") }
        let stored = try store.putHubRegistration(HubRegistration(description, id: id, version: 0, now: call.now))
        let link = call.url(of: stored.id)
        var response = HubAnswer.registration(try stored.answer(isRead: false), link: link, now: call.now)
        response.fields[.contentLocation] = link
        return response
    }

    /// `PUT /{hub}/registrations/{id}`: without `If-Match` creates or replaces; with it, replaces that version only.
    private func put(_ call: HubCall, _ id: RegistrationID) throws -> Response {
        let condition = try IfMatch(field: call.request.fields[.ifMatch])
        let description = try Self.description(call.request)
        for _ in 0..<Self.maximumTries {
            let outcome: Result<Response, HubRefusal>
            do throws(StoreError) {
                outcome = try replace(call, id, description, condition)
            } catch {
                guard error == .conflict else { throw error }
                continue
            }
            return try outcome.get()
        }
        throw StoreError.conflict
    }

    /// One try. A version that the client named is looked at anew each time, so a lost race is a 412.
    private func replace(
        _ call: HubCall, _ id: RegistrationID, _ description: RegistrationDescription, _ condition: IfMatch?
    ) throws(StoreError) -> Result<Response, HubRefusal> {
        let current = try store.hubRegistration(id.description)
        if let condition {
            guard let current else { return .failure(.noSuchRegistration) }
            guard condition.matches(current.version) else { return .failure(.etagMismatch) }
        }
        let registration = HubRegistration(description, id: id, version: current?.version ?? 0, now: call.now)
        let stored = try store.putHubRegistration(registration).answer(isRead: false)
        return .success(HubAnswer.registration(stored, link: call.selfURL, now: call.now))
    }

    /// `GET /{hub}/registrations/{id}`
    private func get(_ call: HubCall, _ id: RegistrationID) throws -> Response {
        guard let stored = try store.hubRegistration(id.description) else { throw HubRefusal.noSuchRegistration }
        return HubAnswer.registration(try stored.answer(isRead: true), link: call.selfURL, now: call.now)
    }

    /// `DELETE /{hub}/registrations/{id}`: `If-Match` is required.
    private func delete(_ call: HubCall, _ id: RegistrationID) throws -> Response {
        guard let condition = try IfMatch(field: call.request.fields[.ifMatch]) else { throw HubRefusal.etagMismatch }
        let version: Int? = if case .version(let version) = condition { version } else { nil }
        let isRemoved: Bool
        do throws(StoreError) {
            isRemoved = try store.removeHubRegistration(id.description, version: version)
        } catch {
            throw error == .conflict ? HubRefusal.etagMismatch as any Error : error
        }
        guard isRemoved else { throw HubRefusal.noSuchRegistration }
        return Response(status: .ok)
    }

    /// - Throws: `AtomError`; `HubRefusal`, 400, for a Windows template without the header that its service needs.
    private static func description(_ request: Request) throws -> RegistrationDescription {
        let description = try AtomEntry.decodeRequest(request.body)
        guard let template = description.template else { return description }
        let needed: String? =
            switch description.platform {
            case .wns: "X-WNS-Type"
            case .mpns: "X-NotificationClass"
            default: nil
            }
        if let needed, !template.headers.contains(where: { ASCII.equalIgnoringCase($0.name, needed) }) {
            throw HubRefusal.bad("The template needs the header \(needed).")
        }
        return description
    }
}
