// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Text

/// One request to the hub, with what every operation needs to know of it.
struct HubCall {
    let request: Request
    let query: Query
    let apiVersion: String
    /// By which it is signed.
    let key: SharedAccessKey
    /// Seconds since 1970.
    let now: Int64

    /// - Throws: `HubFault`, 400: the query is malformed, or its `api-version` is missing or no version. Any version is
    ///   taken, for clients of every age speak the same language; a request without one is not of that language (what
    ///   Azure does then is not known).
    init(_ request: Request, key: SharedAccessKey, now: Int64) throws(HubFault) {
        self.request = request
        self.key = key
        self.now = now
        do throws(Query.Malformed) {
            query = try Query(request.query)
        } catch {
            throw .bad("The query string is malformed.")
        }
        guard let version = query["api-version"], Self.isVersion(version) else {
            throw .bad("The api-version query parameter is missing or invalid.")
        }
        apiVersion = version
    }

    /// The longest `api-version` that is read, in bytes.
    private static let maximumVersionLength = 32

    private static func isVersion(_ text: String) -> Bool {
        (1...maximumVersionLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }

    /// `https://host/hub/collection` as the client spelled it, without a slash at the end. Clients insist on an absolute
    /// `https` URL in `Location`, also where TLS ends in front of this process.
    var collectionURL: String {
        var path = Substring(request.path).utf8
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        return "https://" + request.authority + String(Substring(path))
    }

    /// The URL of what was asked, with the whole query.
    var selfURL: String { "\(collectionURL)?\(request.query)" }

    /// The URL of the thing of that id in the collection that was asked, also a tag's. Every client finds the id in it.
    func url(of id: String, query: String? = nil) -> String {
        "\(collectionURL)/\(id)?\(query ?? "api-version=\(apiVersion)")"
    }

    /// The URL of the message of that id, with the request's query, of a batch that was sent to a path below it.
    func batchURL(_ id: String) -> String {
        let messages = collectionURL.utf8.lastIndex(of: UInt8(ascii: "/")).map { collectionURL[..<$0] } ?? ""
        return "\(messages)/\(id)?\(request.query)"
    }

    /// Whether the token grants Manage, and so everything.
    var isManager: Bool { key.rights.contains(.manage) }

    /// - Throws: `HubFault`, 401, unless the token grants that.
    func require(_ needed: AccessRights) throws(HubFault) {
        guard !isManager, !key.rights.contains(needed) else { return }
        throw .missing(needed.contains(.manage) ? "Manage" : needed.contains(.send) ? "Send" : "Listen")
    }

    /// Whether the query has that key, with whatever value: `direct`, `direct=` and `direct=true` are the same.
    func has(_ key: String) -> Bool { query[key] != nil }
}
