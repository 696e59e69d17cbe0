// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

extension TestSite {
    /// An id that the user was given and has not used yet.
    func newID(_ user: String) throws -> String {
        try JSONValue(parsing: call(.post, "/api/register", as: user).body).string ?? ""
    }

    /// Registers an Apple device under an id that the user was given.
    func put(_ id: String, as user: String, handle: String, on server: Backend? = nil) -> Response {
        call(.put, "/api/register/\(id)", as: user, body: #"{"Platform":"apns","Handle":"\#(handle)"}"#, on: server)
    }

    /// The hub has the registration exactly if the store has one, under its owner's tag and for its handle.
    /// - Returns: the store's record, when a device was registered under it.
    @discardableResult
    func expectAgreement(
        on id: String, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> DeviceRecord? {
        let record = try store.device(id).flatMap { $0.platform.isEmpty ? nil : $0 }
        let registration = try hubClient.registration(try #require(RegistrationID(id)))
        let owner = record.map { "username:\($0.owner)" }
        #expect(registration?.tags.last?.description == owner, comment, sourceLocation: sourceLocation)
        #expect(registration?.handle.channel == record?.handle, comment, sourceLocation: sourceLocation)
        return record
    }
}
