// SPDX-License-Identifier: Apache-2.0
import Curl

/// The product, and a web server before it, whichever: what the stories' calls need of a site.
protocol ServedSite: Sendable {
    /// Host and port of the web server, which speaks TLS.
    var authority: String { get }
    /// What devices and pages reach the site through.
    var transport: CurlTransport { get }
    /// What none of the site's logs may hold.
    var secrets: Secrets { get }

    /// Runs a command of the product, as the site's operator does it beside the running server.
    func run(_ arguments: [String], input: String) throws -> Program.Outcome
}
