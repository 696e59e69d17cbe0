// SPDX-License-Identifier: Apache-2.0
internal import NotificationHub
import Testing

extension Contract {
    static let lookupRules = [
        Contract("a device is found in any spelling of its handle, and others are not") { hub in
            let sample = Sample()
            let token = sample.token()
            let apple = try sample.register(.apns(token), at: hub)
            let windows = try sample.register(.wns(sample.uri("a/")), at: hub)
            try sample.register(.apns(sample.token(2)), at: hub)
            #expect(try hub.registrations(channel: token.lowercased()).map(\.id) == [apple])
            let uri = sample.uri("a")
            for spelling in [uri, uri + "/", "HTTPS://" + uri.dropFirst(8), encoded(uri)] {
                #expect(try hub.registrations(channel: spelling).map(\.id) == [windows], "\(spelling)")
            }
            for none in ["", "'", "none-\(token)", sample.uri("b"), "a' or 'b"] {
                #expect(try hub.registrations(channel: none).isEmpty, "\(none)")
            }
        },
        Contract("a registration that has moved is found by its new handle alone") { hub in
            let sample = Sample()
            let (old, new) = (sample.token(), sample.token(2))
            let id = try sample.register(.apns(old), at: hub)
            _ = try hub.createOrUpdate(RegistrationDescription(id: id, handle: try .apns(new)))
            #expect(try hub.registrations(channel: old).isEmpty)
            #expect(try hub.registrations(channel: new).map(\.id) == [id])
        },
        Contract("all registrations of a device are listed, more than fit on a page") { hub in
            let sample = Sample()
            let handle = try DeviceHandle.apns(sample.token())
            let ids = try (0..<110).map { _ in try sample.register(handle, at: hub) }
            let found = try hub.registrations(channel: handle.channel).compactMap(\.id)
            #expect(found.count == ids.count && Set(found) == Set(ids))
        },
    ]

    /// Percent-encoded, as some apps keep a channel.
    private static func encoded(_ uri: String) -> String {
        uri.replacing("%", with: "%25").replacing(":", with: "%3a").replacing("/", with: "%2f")
    }
}
