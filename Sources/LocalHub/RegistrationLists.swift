// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Text

/// Lists of registrations, in pages: all, a tag's, a device's.
struct RegistrationLists: Sendable {
    let store: any HubStore
    let reader: RegistrationReader

    /// Registrations on a page when the client does not say (`$top`), as .NET asks for.
    static let defaultTop = 100
    /// A client that asks for more gets so many and a continuation.
    static let maximumTop = 1000
    /// A continuation token longer than this is none of ours, in bytes.
    static let maximumTokenLength = 512

    /// `GET /{hub}/registrations`, with `$filter` those of one device. All of them need Manage; those of a device do
    /// not, since who asks knows its handle.
    func all(_ call: HubCall) throws -> Response {
        let filter = call.query["$filter"]
        try call.require(filter == nil ? .manage : .listen)
        guard let filter else {
            return answer(call, try store.hubRegistrations(after: try Self.after(call), limit: try Self.top(call)))
        }
        let parsed = try ChannelFilter(parsing: filter)
        return answer(call, try page(parsed, after: try Self.after(call), limit: try Self.top(call)))
    }

    /// `GET /{hub}/tags/{tag}/registrations`
    func byTag(_ call: HubCall, _ text: String) throws -> Response {
        guard let tag = (try? Tag(text)) ?? (try? Tag(system: text)) else { throw HubRefusal.bad("Invalid tag.") }
        return answer(
            call,
            try store.hubRegistrations(tag: tag.folded, after: try Self.after(call), limit: try Self.top(call)))
    }

    /// A device has few registrations, so they are all read and the page is cut here; its continuation is an id.
    private func page(_ filter: ChannelFilter, after: String?, limit: Int) throws -> Page<HubRegistration> {
        var found: [String: HubRegistration] = [:]
        for channel in filter.channels {
            for registration in try store.hubRegistrations(channel: channel)
            where reader.read(registration).map({ filter.matches($0.platform) }) == true {
                found[registration.id] = registration
            }
        }
        let rest = found.values.filter { $0.id > after ?? "" }.sorted { $0.id < $1.id }
        let page = Array(rest.prefix(limit))
        return Page(elements: page, next: rest.count > page.count ? page.last?.id : nil)
    }

    private static func top(_ call: HubCall) throws(HubRefusal) -> Int {
        guard let text = call.query["$top"] else { return defaultTop }
        guard let top = Int(text), top > 0 else { throw .bad("$top must be a positive number.") }
        return min(top, maximumTop)
    }

    /// The continuation: letters, digits, `-` and `_` only, because some clients encode it once more and some do not.
    private static func after(_ call: HubCall) throws(HubRefusal) -> String? {
        guard let token = call.query["continuationtoken"], !token.isEmpty else { return nil }
        guard token.utf8.count <= maximumTokenLength,
            token.utf8.allSatisfy(ASCII.isURLSafe)
        else { throw .bad("The continuation token is invalid.") }
        return token
    }

    private func answer(_ call: HubCall, _ page: Page<HubRegistration>) -> Response {
        let time = HubTime(call.now).iso8601
        var feed = AtomFeed(link: call.selfURL, updated: time)
        for registration in page.elements {
            guard let description = reader.read(registration) else { continue }
            let link = call.registrationURL(registration.id)
            let answer = registration.answer(description, isRead: true)
            feed.entries.append(AtomEntry(link: link, updated: time, registration: answer))
        }
        var fields: HTTPFields = [.contentType: HubAnswer.feed]
        if let next = page.next {
            feed.next = call.nextURL(next)
            fields[.continuationToken] = next
        }
        return Response(status: .ok, fields: fields, body: feed.encode())
    }
}

extension HubCall {
    /// The URL of a registration in a list, with the list's whole query, as Azure writes it.
    fileprivate func registrationURL(_ id: String) -> String {
        let hub = request.path.utf8.split(separator: UInt8(ascii: "/")).first.map { String(Substring($0)) } ?? ""
        return "https://\(request.authority)/\(hub)/registrations/\(id)?\(request.query)"
    }

    /// The URL of the same list's next page.
    fileprivate func nextURL(_ token: String) -> String {
        let items = request.query.utf8.split(separator: UInt8(ascii: "&")).map { String(Substring($0)) }
        let kept = items.filter { !$0.lowercased().hasPrefix("continuationtoken=") }
        return "\(collectionURL)?\((kept + ["continuationtoken=\(token)"]).joined(separator: "&"))"
    }
}
