// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Text

/// Whose page made a request, as far as its browser says so. No page can make a browser say something else.
enum RequestOrigin {
    /// A page of this very host.
    case own
    /// Anything else that a browser names: another site's page, a neighbour under the same domain, a local file.
    case other
    /// Nothing is said: an app, a script, or a browser's plain GET.
    case unknown

    init(_ request: Request) {
        // Where it is there it is the better witness (W3C Fetch Metadata): a page may have `Origin` withheld.
        if let site = request.fields[.site] {
            self = site == "same-origin" ? .own : .other
        } else if let origin = request.fields[.origin] {
            let own = "https://" + request.authority
            self = !request.authority.isEmpty && ASCII.equalIgnoringCase(origin, own) ? .own : .other
        } else {
            self = .unknown
        }
    }

    /// Whether a page of another site, or of a neighbour under the same domain, made the request; not a person who opened
    /// the address.
    static func isAnotherPage(_ request: Request) -> Bool {
        RequestOrigin(request) == .other && request.fields[.site] != "none"
    }

    /// Whether a request of that method changes nothing.
    static func isSafe(_ request: Request) -> Bool { request.method == .get || request.method == .head }

    static let crossSiteRequest = Problem(.crossSite, "In a browser, only this site's own pages may do that.")
}

/// The fields in which a browser says how it came to make a request (W3C Fetch Metadata).
extension ExtensionField {
    /// `same-origin`, `same-site`, `cross-site` or `none`.
    static let site = ExtensionField("Sec-Fetch-Site")
    /// `navigate` for what a person opened; `cors` and others for what a page fetches.
    static let mode = ExtensionField("Sec-Fetch-Mode")
}
