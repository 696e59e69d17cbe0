// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import HTTPTypes
internal import Text

extension HubClient {
    /// `POST /{hub}/registrationids`: a new id. The hub stores nothing under it before the first `createOrUpdate`.
    package func createRegistrationID() throws(HubError) -> RegistrationID {
        let (response, _) = try perform(Call(method: .post, path: "registrationids"))
        guard let location = response.fields[.location], let id = RegistrationID(Self.lastSegment(of: location)) else {
            throw .malformedAnswer("Location with a registration id expected")
        }
        return id
    }

    /// `GET /{hub}/registrations?$filter=ChannelUri eq '…'`: all registrations of one handle, of every platform, to
    /// the last page. None is an empty list, whether the hub says so with 404 or with an empty feed.
    package func registrations(channel: String) throws(HubError) -> [RegistrationDescription] {
        try registrations(channel: channel, top: 100)
    }

    /// As `registrations(channel:)`.
    /// - Parameter top: how many at once.
    package func registrations(channel: String, top: Int) throws(HubError) -> [RegistrationDescription] {
        // In the filter's language a quotation mark is doubled.
        let literal = channel.unicodeScalars.map { $0 == "'" ? "''" : String($0) }.joined()
        let filter = PercentEncoding.encode("'\(literal)'", uppercase: false)
        return try list("registrations", ["$filter=ChannelUri+eq+\(filter)"], top)
    }

    /// `GET /{hub}/tags/{tag}/registrations`: all registrations that bear the tag. Those of a kind that is not known
    /// here are left out.
    package func registrations(tag: Tag, top: Int = 100) throws(HubError) -> [RegistrationDescription] {
        try list("tags/\(PercentEncoding.encode(tag.description))/registrations", [], top)
    }

    /// `GET /{hub}/registrations/{id}`: nil when there is none.
    package func registration(_ id: RegistrationID) throws(HubError) -> RegistrationDescription? {
        do throws(HubError) {
            return try Self.entry(in: try perform(Call(method: .get, path: "registrations/\(id)")).response)
        } catch .notFound {
            return nil
        }
    }

    /// `PUT /{hub}/registrations/{id}`: stores the registration, whether there was one or not.
    /// - Throws: `HubError.registrationGone`, when the id may not be used any more.
    package func createOrUpdate(
        _ description: RegistrationDescription
    ) throws(HubError) -> RegistrationDescription {
        guard let id = description.id else { throw .refused(status: 400, code: "missingRegistrationID") }
        let (response, _) = try perform(
            Call(
                method: .put, path: "registrations/\(id)", fields: [.contentType: Self.entryType],
                body: AtomEntry.encodeRequest(description)))
        var stored = try Self.entry(in: response)
        guard stored.id == nil || stored.id == id else { throw .malformedAnswer("the same registration id expected") }
        stored.id = id
        return stored
    }

    /// `DELETE /{hub}/registrations/{id}`, whatever its ETag.
    /// - Returns: false when there was none; also when the first try was cut off behind the hub and a second found
    ///   nothing any more.
    package func delete(_ id: RegistrationID) throws(HubError) -> Bool {
        do throws(HubError) {
            _ = try perform(Call(method: .delete, path: "registrations/\(id)", fields: [.ifMatch: "*"]))
            return true
        } catch .notFound, .registrationGone {
            return false
        }
    }

    private static let entryType = "application/atom+xml;type=entry;charset=utf-8"

    /// All pages of a list.
    private func list(_ path: String, _ query: [String], _ top: Int) throws(HubError) -> [RegistrationDescription] {
        var found: [RegistrationDescription] = []
        let query = query + ["$top=\(min(max(top, 1), Self.maximumTop))"]
        var token: String?
        for _ in 0..<Self.maximumPages {
            let continuation = token.map { ["continuationtoken=\($0)"] } ?? []
            let response: Response
            do throws(HubError) {
                response = try perform(Call(method: .get, path: path, query: query + continuation)).response
            } catch .notFound {
                return found
            }
            found += try Self.feed(in: response).entries.map(\.registration)
            guard let next = response.fields[.continuationToken], !next.isEmpty else { return found }
            guard next != token, Self.isPlain(next) else { throw .malformedAnswer("another continuation expected") }
            token = next
        }
        throw .malformedAnswer("at most \(Self.maximumPages) pages expected")
    }

    /// A continuation goes back as it came, for it came percent-encoded; it must not carry further items of a query.
    private static func isPlain(_ token: String) -> Bool {
        token.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-._~%+/=;:!*".utf8.contains($0) }
    }

    private static func entry(in response: Response) throws(HubError) -> RegistrationDescription {
        do throws(AtomError) {
            return try AtomEntry(decoding: response.body).registration
        } catch {
            throw .malformedAnswer("a registration's entry expected, not \(error)")
        }
    }

    private static func feed(in response: Response) throws(HubError) -> AtomFeed {
        do throws(AtomError) {
            return try AtomFeed(decoding: response.body)
        } catch {
            throw .malformedAnswer("a feed of registrations expected, not \(error)")
        }
    }

    /// What follows the last `/` of a URL's path.
    static func lastSegment(of location: String) -> String {
        let path = location.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return path.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
    }
}
