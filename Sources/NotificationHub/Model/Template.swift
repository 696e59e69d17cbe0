// SPDX-License-Identifier: Apache-2.0

/// How a device wants its notifications made from the properties of a template send.
package struct Template: Hashable, Sendable {
    /// JSON or XML with expressions such as `$(message)`.
    package var body: String
    /// Tells the templates of one installation apart.
    package var name: String?
    /// An expression or a date; Apple only.
    package var expiry: String?
    /// An expression or a number; Apple only.
    package var priority: String?
    /// Sent with the notification; Apple, Windows and Windows Phone only. Windows needs `X-WNS-Type`.
    package var headers: [PushHeader]

    package init(
        body: String, name: String? = nil, expiry: String? = nil, priority: String? = nil, headers: [PushHeader] = []
    ) {
        self.body = body
        self.name = name
        self.expiry = expiry
        self.priority = priority
        self.headers = headers
    }
}
