// SPDX-License-Identifier: Apache-2.0
internal import NotificationHub
import Testing

extension Contract {
    static let registrationRules = [
        Contract("a new id is another each time, and nothing is stored under it") { hub in
            let ids = try (0..<5).map { _ in try hub.createRegistrationID() }
            #expect(Set(ids).count == ids.count)
            for id in ids {
                #expect(try hub.registration(id) == nil)
                #expect(try !hub.delete(id))
            }
        },
        Contract("a registration is stored as it was sent, and each write counts") { hub in
            let sample = Sample()
            let id = try hub.createRegistrationID()
            var description = RegistrationDescription(
                id: id, tags: [try sample.tag("Größe"), try sample.tag("a")], handle: try .apns(sample.token()))
            for count in 1...3 {
                let written = try hub.createOrUpdate(description)
                #expect(written.etag == "\(count)")
                #expect(written.expirationTime?.hasPrefix("9999-12-31T23:59:59.999") == true)
                let read = try #require(try hub.registration(id))
                for registration in [written, read] {
                    #expect(registration.id == id)
                    #expect(registration.tags.map(\.description) == description.tags.map(\.description))
                    #expect(registration.handle == description.handle)
                    #expect(registration.template == nil && registration.pushVariables == nil)
                }
                description.tags.append(try sample.tag("more\(count)"))
            }
        },
        Contract("what the hub gives is not taken from who registers") { hub in
            let sample = Sample()
            let id = try sample.register(.apns(sample.token()), at: hub)
            var read = try #require(try hub.registration(id))
            (read.etag, read.expirationTime) = ("77", "2000-01-01T00:00:00Z")
            #expect(try hub.createOrUpdate(read).etag == "2")
            #expect(try hub.registration(id)?.expirationTime?.hasPrefix("9999") == true)
        },
        Contract("every kind of handle comes back as it was sent") { hub in
            let sample = Sample()
            let key = "B" + String(repeating: "A", count: 86)
            let handles: [DeviceHandle] = [
                try .apns(sample.token()), try .fcm("token:\(sample.token())"), try .gcm(sample.token()),
                try .wns(sample.uri("c?d=e")), try .mpns(sample.uri("")), try .adm("it's-\(sample.token())"),
                try .baidu(userID: "u", channelID: "c-\(sample.token())"),
                try .browser(endpoint: sample.uri("e"), p256dh: key, auth: String(repeating: "A", count: 22)),
            ]
            for handle in handles {
                let id = try sample.register(handle, at: hub)
                #expect(try hub.registration(id)?.handle == handle)
                #expect(try hub.registrations(channel: handle.channel).map(\.id) == [id])
            }
        },
        Contract("a template, push variables and a tile come back whole") { hub in
            let sample = Sample()
            let headers = [PushHeader("X-WNS-Type", "wns/toast"), PushHeader("X-WNS-Type", "wns/tile")]
            let windows = RegistrationDescription(
                id: try hub.createRegistrationID(), pushVariables: #"{"k":"v"}"#, handle: try .wns(sample.uri("w")),
                secondaryTileName: "tile",
                template: Template(body: #"["& ]]>","$(m)"]"#, name: "tn", headers: headers))
            let apple = RegistrationDescription(
                id: try hub.createRegistrationID(), handle: try .apns(sample.token()),
                template: Template(body: #"{"aps":{"alert":"$(m)"}}"#, name: "n", expiry: "$(e)", priority: "10"))
            for sent in [windows, apple] {
                _ = try hub.createOrUpdate(sent)
                let id = try #require(sent.id)
                let read = try #require(try hub.registration(id))
                #expect(read.template == sent.template)
                #expect(read.pushVariables == sent.pushVariables)
                #expect(read.secondaryTileName == sent.secondaryTileName)
            }
        },
        Contract("what is deleted is gone, at any version") { hub in
            let sample = Sample()
            let handle = try DeviceHandle.apns(sample.token())
            let id = try sample.register(handle, at: hub)
            _ = try hub.createOrUpdate(RegistrationDescription(id: id, handle: handle))
            #expect(try hub.delete(id))
            #expect(try !hub.delete(id))
            #expect(try hub.registration(id) == nil)
            #expect(try hub.registrations(channel: handle.channel).isEmpty)
        },
    ]
}
