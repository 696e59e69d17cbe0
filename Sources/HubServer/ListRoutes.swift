// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Text

/// Lists of registrations, in pages: all, a tag's, a device's.
struct ListRoutes: Sendable {
    let hub: any ServableHub

    /// Registrations on a page when the client does not say (`$top`), as .NET asks for.
    private static let defaultTop = 100
    /// A client that asks for more gets so many and a continuation.
    private static let maximumTop = 1000
    /// The longest continuation token that is read, in bytes.
    private static let maximumTokenLength = 512
    /// In the user agent of an SDK that refuses a whole page with a browser on it.
    private static let dotNet = "api-origin=DotNetSdk"

    var routes: [HubRoute] {
        [
            // What it needs depends on the filter; it asks for that itself.
            HubRoute(.get, "/{hub}/registrations", needs: []) { call, _ in try all(call) },
            HubRoute(.get, "/{hub}/tags/{tag}/registrations", needs: .manage) { try byTag($0, $1["tag"]) },
        ]
    }

    /// `GET /{hub}/registrations`, with `$filter` those of one device. All of them need Manage; those of a device do
    /// not, since the client knows its handle.
    private func all(_ call: HubCall) throws -> Response {
        let filter = call.query["$filter"]
        try call.require(filter == nil ? .manage : .listen)
        guard let filter else { return try answer(call, .all) }
        return try answer(call, .device(try ChannelQuery(filter: filter)))
    }

    /// `GET /{hub}/tags/{tag}/registrations`
    private func byTag(_ call: HubCall, _ text: String) throws -> Response {
        guard let tag = (try? Tag(text)) ?? (try? Tag(system: text)) else { throw HubFault.bad("Invalid tag.") }
        return try answer(call, .tag(tag))
    }

    private static func top(_ call: HubCall) throws(HubFault) -> Int {
        guard let text = call.query["$top"] else { return defaultTop }
        guard let top = Int(text), top > 0 else { throw .bad("$top must be a positive number.") }
        return min(top, maximumTop)
    }

    /// The continuation: letters, digits, `-` and `_` only, because some clients encode it once more and some do not.
    private static func after(_ call: HubCall) throws(HubFault) -> String? {
        guard let token = call.query["continuationtoken"], !token.isEmpty else { return nil }
        guard token.utf8.count <= maximumTokenLength,
            token.utf8.allSatisfy(ASCII.isURLSafe)
        else { throw .bad("The continuation token is invalid.") }
        return token
    }

    private func answer(_ call: HubCall, _ selection: RegistrationSelection) throws -> Response {
        let page = try hub.list(selection, after: try Self.after(call), limit: try Self.top(call))
        let time = HubTime(call.now).iso8601
        var feed = AtomFeed(link: call.selfURL, updated: time)
        let isForDotNet = call.request.fields[.userAgent]?.contains(Self.dotNet) == true
        for registration in page.registrations where !isForDotNet || registration.platform != .browser {
            let link = call.url(of: registration.id?.description ?? "", query: call.request.query)
            feed.entries.append(AtomEntry(link: link, updated: time, registration: registration))
        }
        var fields: HTTPFields = [.contentType: HubResponse.feed]
        if let next = page.next {
            feed.next = call.nextURL(next)
            fields[.continuationToken] = next
        }
        return Response(status: .ok, fields: fields, body: feed.encode())
    }
}

extension HubCall {
    /// The URL of the same list's next page, in which Azure encodes `$`.
    fileprivate func nextURL(_ token: String) -> String {
        let items = request.query.utf8.split(separator: UInt8(ascii: "&")).map { String(Substring($0)) }
        let kept = items.filter { !$0.lowercased().hasPrefix("continuationtoken=") }.map { item in
            item.hasPrefix("$") ? "%24" + item.dropFirst() : item
        }
        return "\(collectionURL)?\((kept + ["continuationtoken=\(token)"]).joined(separator: "&"))"
    }
}
