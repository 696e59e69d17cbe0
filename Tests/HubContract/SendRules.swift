// SPDX-License-Identifier: Apache-2.0
internal import NotificationHub
import Testing

extension Contract {
    private static let message = HubNotification.apns(json: Array(#"{"aps":{"alert":"é"}}"#.utf8))

    /// How many devices of which platform a send found.
    private static func targets(
        _ notification: HubNotification, to expression: TagExpression, _ hub: any Hub
    ) throws -> [Platform: Int] {
        let receipt = try hub.send(notification, to: expression)
        let id = try #require(receipt.notificationID)
        let details = try #require(try hub.details(id))
        #expect(receipt.hasNoTarget == details.outcomes.isEmpty)
        #expect(details.state == (details.outcomes.isEmpty ? NotificationDetails.noTargetFound : "Abandoned"))
        #expect(details.outcomes.flatMap(\.counts).allSatisfy { $0.name == "Skipped" })
        return Dictionary(
            uniqueKeysWithValues: details.outcomes.map { ($0.platform, $0.counts.reduce(0) { $0 + $1.count }) })
    }

    static let sendRules = [
        Contract("a send is recorded with its tags, its times and each platform's outcome, and not its text") { hub in
            let sample = Sample()
            let tag = try sample.tag("username")
            for number in 1...2 { try sample.register(.apns(sample.token(number)), [tag], at: hub) }
            let expression = TagExpression.or(.tag(tag), .not(.not(.tag(try sample.tag("x")))))
            let receipt = try hub.tracking("request-7").send(message, to: expression)
            #expect(receipt.trackingID == "request-7" && !receipt.hasNoTarget)
            let id = try #require(receipt.notificationID)
            let details = try #require(try hub.details(id))
            #expect(details.id == id && details.tags == expression.description && details.body == nil)
            #expect(details.state == "Abandoned" && details.targetPlatforms == "apple")
            #expect(details.enqueueTime != nil && details.startTime != nil && details.endTime != nil)
            #expect(details.outcomes == [PlatformOutcomes(.apns, [PlatformOutcomes.Count("Skipped", 2)])])
        },
        Contract("a send reaches whom its expression names, of its platform, and each device once") { hub in
            let sample = Sample()
            let (one, other) = (try sample.tag("one"), try sample.tag("other"))
            let token = sample.token()
            for _ in 1...2 { try sample.register(.apns(token), [one, other], at: hub) }
            try sample.register(.apns(sample.token(2)), [try Tag(one.description.uppercased())], at: hub)
            try sample.register(.fcm(sample.token(3)), [one], at: hub)
            try sample.register(.gcm(sample.token(4)), [other], at: hub)
            let rows: [(HubNotification, TagExpression, [Platform: Int])] = [
                (message, .tag(one), [.apns: 2]), (message, .or(.tag(one), .tag(other)), [.apns: 2]),
                (message, .and(.tag(one), .tag(other)), [.apns: 1]),
                (message, .and(.tag(one), .not(.tag(other))), [.apns: 1]),
                (.fcm(json: message.body), .or(.tag(one), .tag(other)), [.fcm: 1, .gcm: 1]),
                (.wnsToast(xml: []), .tag(one), [:]), (message, .tag(try sample.tag("nosuch")), [:]),
            ]
            for (notification, expression, expected) in rows {
                #expect(try targets(notification, to: expression, hub) == expected, "\(notification)")
            }
        },
        Contract("a registration is reached by its own tag, and left out by it") { hub in
            let sample = Sample()
            let tag = try sample.tag("t")
            var own: [Tag] = []
            for number in 1...3 {
                let id = try hub.createRegistrationID()
                let name = try #require(Tag(registration: id))
                let tags = [tag] + (hub.knowsRegistrationTags ? [] : [name])
                _ = try hub.createOrUpdate(
                    RegistrationDescription(id: id, tags: tags, handle: try .apns(sample.token(number))))
                own.append(name)
            }
            let unknown = try Tag("device:1-2-3")
            let rows: [(TagExpression, Int)] = [
                (.tag(own[0]), 1), (.or(.tag(own[0]), .tag(own[1])), 2), (.or(.tag(own[0]), .tag(tag)), 3),
                (.and(.tag(tag), .not(.tag(own[2]))), 2), (.and(.tag(own[0]), .not(.tag(own[0]))), 0),
                (.and(.tag(own[0]), .tag(own[1])), 0), (.tag(unknown), 0),
                (.and(.tag(tag), .not(.tag(unknown))), 3),
            ]
            for (expression, count) in rows {
                #expect(try targets(message, to: expression, hub)[.apns] ?? 0 == count, "\(expression)")
            }
            #expect(try targets(.wnsToast(xml: []), to: .tag(own[0]), hub) == [:])
        },
        Contract("a template's registration is reached by template sends alone") { hub in
            let sample = Sample()
            let tag = try sample.tag("t")
            try sample.register(.apns(sample.token()), [tag], template: Template(body: "{}"), at: hub)
            #expect(try targets(message, to: .tag(tag), hub) == [:])
            #expect(try targets(.template(json: Array("{}".utf8)), to: .tag(tag), hub) == [.apns: 1])
        },
        Contract("what the hub was never sent it knows nothing of") { hub in
            for id in ["unknown", "a b", "é", String(repeating: "x", count: 200)] {
                let details = try hub.details(id)
                #expect(details == nil, "\(id)")
            }
        },
    ]

    static let refusalRules = [
        Contract("a registration without an id is refused") { hub in
            #expect(throws: HubError.refused(status: 400, code: "missingRegistrationID")) {
                _ = try hub.createOrUpdate(RegistrationDescription(handle: try .apns("AB")))
            }
        },
        Contract("a registration that is wrong is refused, and nothing is stored") { hub in
            let handle = try DeviceHandle.apns(Sample().token())
            let many = try (0..<100).map { try Tag(String(repeating: "t", count: 90) + "\($0)") }
            let wrong: [RegistrationDescription] = [
                RegistrationDescription(tags: [try Tag(system: "$UserId:{alice}")], handle: handle),
                RegistrationDescription(unaddressableTags: ["a b"], handle: handle),
                RegistrationDescription(tags: many, handle: handle),
                RegistrationDescription(handle: handle, template: Template(body: "")),
                RegistrationDescription(
                    handle: try .wns(Sample().uri("x")), template: Template(body: "<toast/>")),
            ]
            for (index, row) in wrong.enumerated() {
                var description = row
                let id = try hub.createRegistrationID()
                description.id = id
                #expect(throws: HubError.refused(status: 400, code: "400"), "\(index)") {
                    _ = try hub.createOrUpdate(description)
                }
                #expect(try hub.registration(id) == nil)
            }
        },
        Contract("a send that is wrong is refused before it acts") { hub in
            let tags = try (1...7).map { TagExpression.tag(try Tag("t\($0)")) }
            let expression = tags.dropFirst().reduce(tags[0]) { .and($0, $1) }
            #expect(throws: HubError.refused(status: 400, code: "invalidExpression")) {
                _ = try hub.send(message, to: expression)
            }
            let large = HubNotification.apns(json: [UInt8](repeating: 0x20, count: 4097))
            #expect(throws: HubError.payloadTooLarge) { _ = try hub.send(large, to: tags[0]) }
            let forged = HubNotification.apns(json: [], headers: [PushHeader("apns-priority", "5\r\nX: y")])
            #expect(throws: HubError.refused(status: 400, code: "invalidHeader")) {
                _ = try hub.send(forged, to: tags[0])
            }
        },
    ]
}
