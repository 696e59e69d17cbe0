// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes

/// A page of the site's own in a browser: keeps its cookie among those of others, and says what browsers say.
final class WirePage {
    /// `name=value`, as browsers send it.
    var cookie: String?
    private let site: any ServedSite

    init(_ site: any ServedSite) {
        self.site = site
    }

    /// - Parameter keepingCookie: as a client does that has copied it before it was taken back.
    func call(
        _ method: HTTPRequest.Method, _ path: String, query: String = "", body: String = "",
        keepingCookie: Bool = false
    ) throws -> Response {
        var fields = HTTPFields(["Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"])
        if method != .get { fields[.origin] = "https://\(site.authority)" }
        // In one field, as browsers do by HTTP/1.1 (RFC 6265 section 5.4); the subscript would make a field of each.
        let cookies = ["theme=dark"] + [cookie].compactMap(\.self) + ["last=1"]
        fields.append(HTTPField(name: .cookie, value: cookies.joined(separator: "; ")))
        let answer = try site.call(method, path, query: query, body: body, fields: fields)
        if let given = answer.fields[.setCookie], !keepingCookie {
            cookie = given.contains("Max-Age=0;") ? nil : given.split(separator: ";").first.map(String.init)
            if let value = cookie?.split(separator: "=").last { site.secrets.add(String(value)) }
        }
        return answer
    }

    @discardableResult func logIn(_ user: WireUser) throws -> Response {
        try call(.post, Path.session, body: logInBody(user))
    }

    func logInBody(_ user: WireUser) -> String {
        #"{"UserName":"\#(user.name)","Password":"\#(user.password)"}"#
    }
}

extension HTTPFields {
    /// Fields by names that HTTPTypes has no constants for.
    init(_ fields: [String: String]) {
        self.init(
            fields.compactMap { name, value in HTTPField.Name(name).map { HTTPField(name: $0, value: value) } })
    }
}
