// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Text

/// As whom a client means to act, where it says so in `App-Backend-User`: the name, percent-encoded.
///
/// All windows of a browser have one cookie. When another user logs in in one of them, the others go on showing the first
/// one for a while. What these ask for must not be answered for the other, and above all not be done in the other's name.
enum ExpectedUser {
    /// Made once: each request is asked for it.
    private static let field = HTTPField.Name("App-Backend-User")

    /// Whether the request names no user, or one that can be read.
    static func isReadable(_ request: Request) -> Bool {
        field.flatMap { request.fields[$0] }.map { PercentEncoding.decode($0.utf8) != nil } ?? true
    }

    /// Whether the request names no user, or this one.
    static func isMet(by user: Principal, _ request: Request) -> Bool {
        guard let text = field.flatMap({ request.fields[$0] }) else { return true }
        return PercentEncoding.decode(text.utf8)?.hasSameBytes(as: user.name) ?? false
    }
}
