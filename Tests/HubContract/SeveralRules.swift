// SPDX-License-Identifier: Apache-2.0
internal import NotificationHub
import Testing

extension Contract {
    private static let message = HubNotification.apns(json: Array(#"{"aps":{"alert":"é"}}"#.utf8))

    static let ensureRules = [
        Contract("a registration that is ensured is there as it was sent, and the hub says whether it wrote it") {
            hub in
            let sample = Sample()
            let (id, tag) = (try hub.createRegistrationID(), try sample.tag("a"))
            var description = RegistrationDescription(id: id, tags: [tag], handle: try .apns(sample.token()))
            #expect(try hub.ensure(description))
            #expect(try hub.registration(id)?.etag == "1")
            let isAgain = try hub.ensure(description)
            #expect(try hub.registration(id)?.etag == (isAgain ? "2" : "1"))
            description.tags.append(try sample.tag("b"))
            #expect(try hub.ensure(description))
            let read = try #require(try hub.registration(id))
            #expect(read.tags.map(\.description) == description.tags.map(\.description))
            #expect(read.handle == description.handle && read.etag == (isAgain ? "3" : "2"))
            #expect(try hub.delete(id))
            #expect(try hub.ensure(description))
            #expect(try hub.registrations(channel: read.handle.channel).map(\.id) == [id])
        },
        Contract("what may not be stored is not ensured either") { hub in
            let handle = try DeviceHandle.apns(Sample().token())
            #expect(throws: HubError.refused(status: 400, code: "missingRegistrationID")) {
                _ = try hub.ensure(RegistrationDescription(handle: handle))
            }
            let id = try hub.createRegistrationID()
            #expect(throws: HubError.refused(status: 400, code: "400")) {
                _ = try hub.ensure(RegistrationDescription(id: id, handle: handle, template: Template(body: "")))
            }
            #expect(try hub.registration(id) == nil)
        },
    ]

    static let severalRules = [
        Contract("several messages are sent together, each has its outcome in its place, and one that fails stops none")
        {
            hub in
            let sample = Sample()
            let (one, other) = (try sample.tag("one"), try sample.tag("other"))
            for number in 1...2 { try sample.register(.apns(sample.token(number)), [one], at: hub) }
            try sample.register(.apns(sample.token(3)), [other], at: hub)
            let large = HubNotification.apns(json: [UInt8](repeating: 0x20, count: 4097))
            let pending = hub.tracking("request-8").start([
                AddressedNotification(message, to: .tag(one)), AddressedNotification(large, to: .tag(one)),
                AddressedNotification(message, to: .tag(try sample.tag("nosuch"))),
                AddressedNotification(message, to: .tag(other)),
            ])
            pending.wait()
            #expect(pending.hasEnded && pending.results.count == 4)
            #expect(throws: HubError.payloadTooLarge) { _ = try pending.results[1].get() }
            for (place, count) in [(0, 2), (2, 0), (3, 1)] {
                let receipt = try pending.results[place].get()
                #expect(receipt.trackingID == "request-8" && receipt.hasNoTarget == (count == 0))
                let id = try #require(receipt.notificationID)
                let outcomes = count == 0 ? [] : [PlatformOutcomes(.apns, [PlatformOutcomes.Count("Skipped", count)])]
                #expect(try hub.details(id)?.outcomes == outcomes)
            }
        },
        Contract("no message is no send") { hub in
            let pending = hub.start([])
            pending.wait()
            #expect(pending.hasEnded && pending.results.isEmpty)
        },
        Contract("a hub for given messages sends them, and others, to whom they are for") { hub in
            let sample = Sample()
            let (one, other) = (try sample.tag("one"), try sample.tag("other"))
            try sample.register(.apns(sample.token()), [one], at: hub)
            try sample.register(.fcm(sample.token(2)), [one, other], at: hub)
            let expression = TagExpression.or(.tag(one), .tag(other))
            let android = HubNotification.fcm(json: message.body)
            let shared = hub.tracking("request-9").sharing([message, android].map { .init($0, to: expression) })
            let rows: [(HubNotification, TagExpression, Platform?)] = [
                (message, expression, .apns), (android, expression, .fcm), (message, .tag(other), nil),
                (android, .tag(other), .fcm),
            ]
            for (notification, expression, platform) in rows {
                let receipt = try shared.send(notification, to: expression)
                #expect(receipt.trackingID == "request-9" && receipt.hasNoTarget == (platform == nil))
                let id = try #require(receipt.notificationID)
                let outcomes = platform.map { [PlatformOutcomes($0, [PlatformOutcomes.Count("Skipped", 1)])] } ?? []
                #expect(try hub.details(id)?.outcomes == outcomes, "\(notification) \(expression)")
            }
        },
        Contract("the hub says of several messages what became of each in its place, as of one alone") { hub in
            let sample = Sample()
            let tag = try sample.tag("t")
            try sample.register(.apns(sample.token()), [tag], at: hub)
            let sent = try [tag, try sample.tag("nosuch")].map { tag in
                try #require(try hub.send(message, to: .tag(tag)).notificationID)
            }
            let ids = [sent[1], "unknown", sent[0], "a b", sent[1]]
            let answers = try hub.details(of: ids).map { try $0.get() }
            #expect(answers.map { $0?.id } == [sent[1], nil, sent[0], nil, sent[1]])
            #expect(answers.map { $0?.outcomes.count } == [0, nil, 1, nil, 0])
            #expect(try answers == ids.map { try hub.details($0) })
            #expect(hub.details(of: []).isEmpty)
        },
        Contract(
            "a hub under a request's id, or for given messages, is where the hub itself is, and knows the same tags"
        ) {
            hub in
            for same in [hub.tracking("request-10"), hub.sharing([]), hub.tracking("request-10").sharing([])] {
                #expect(same.isLocal == hub.isLocal)
                #expect(same.knowsRegistrationTags == hub.knowsRegistrationTags)
            }
        },
    ]
}
