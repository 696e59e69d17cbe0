// SPDX-License-Identifier: Apache-2.0
package import HTTP
internal import HTTPTypes

/// What a request asks of a hub, for metrics of calls.
package enum HubOperation: String, CaseIterable, Sendable {
    case createRegistrationID = "create_registration_id"
    case putRegistration = "put_registration"
    case readRegistration = "read_registration"
    case deleteRegistration = "delete_registration"
    /// Those of a tag or a channel, one page.
    case listRegistrations = "list_registrations"
    case send
    /// What became of a send.
    case readMessage = "read_message"
    case other

    /// - Parameter request: as the client makes it: `/{hub}/…`.
    package init(_ request: Request) {
        let segments = request.path.utf8.split(separator: UInt8(ascii: "/")).dropFirst().map { Substring($0) }
        switch (request.method, segments.first, segments.count) {
        case (.post, "registrationids", 1): self = .createRegistrationID
        case (.put, "registrations", 2): self = .putRegistration
        case (.get, "registrations", 2): self = .readRegistration
        case (.delete, "registrations", 2): self = .deleteRegistration
        case (.get, "registrations", 1), (.get, "tags", 3): self = .listRegistrations
        case (.post, "messages", 1), (.post, "schedulednotifications", 1): self = .send
        case (.get, "messages", 2): self = .readMessage
        default: self = .other
        }
    }
}
