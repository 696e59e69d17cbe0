// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store
import Support
import Testing

@testable import BuiltInHub

@Suite struct `Who a send reaches` {
    private static let names = ["a", "b", "c", "d", "e"]

    private func expression(_ depth: Int, _ random: inout SeededRandom) throws -> TagExpression {
        switch depth == 0 ? 0 : Int.random(in: 0...4, using: &random) {
        case 0, 1: .tag(try Tag(Self.names[Int.random(in: 0..<Self.names.count, using: &random)].uppercased()))
        case 2: .not(try expression(depth - 1, &random))
        case 3: .and(try expression(depth - 1, &random), try expression(depth - 1, &random))
        default: .or(try expression(depth - 1, &random), try expression(depth - 1, &random))
        }
    }

    @Test func `is the same as trying every registration`() throws {
        var random = SeededRandom(seed: 3)
        let store = MemoryHubStore()
        var all: [(id: String, tags: Set<NotificationHub.Tag>)] = []
        for index in 0..<700 {
            let tags = try Self.names.filter { _ in Int.random(in: 0...3, using: &random) == 0 }.map { try Tag($0) }
            let description = RegistrationDescription(tags: tags, handle: try .fcm("token-\(index)"))
            let id = try #require(RegistrationID("\(index)-1-1"))
            _ = try store.putHubRegistration(HubRegistration(description, id: id, version: 0, now: 0))
            all.append((id.description, Set(tags)))
        }
        for _ in 0..<150 {
            let expression = try expression(4, &random)
            var found: [String] = []
            let selection = TargetSelection(store: store, reader: RegistrationReader { _ in })
            try selection.forEach(.native(.fcm), expression) { target in
                if let id = target.registrationID { found.append(id) }
            }
            #expect(try selection.hasTarget(.native(.fcm), expression) == !found.isEmpty, "\(expression)")
            #expect(try !selection.hasTarget(.native(.apns), expression))
            #expect(found.sorted() == all.filter { expression.matches($0.tags) }.map(\.id).sorted(), "\(expression)")
        }
    }

    @Test func `a tag of thousands, none of whom is reached, is read through once`() throws {
        let store = MemoryHubStore()
        let count = 6 * TargetSelection.pageSize
        for index in 0..<count {
            let id = try #require(RegistrationID("\(index)-1-1"))
            let description = RegistrationDescription(tags: [try Tag("all")], handle: try .fcm("token-\(index)"))
            _ = try store.putHubRegistration(HubRegistration(description, id: id, version: 0, now: 0))
        }
        let selection = TargetSelection(store: store, reader: RegistrationReader { _ in })
        #expect(try !selection.hasTarget(.native(.apns), .tag(Tag("all"))))
        #expect(store.tagPagesRead == 2)
        #expect(store.registrationsRead <= count + TargetSelection.pageSize + 1)
        let before = store.registrationsRead
        #expect(try selection.hasTarget(.native(.fcm), .tag(Tag("all"))))
        #expect(store.registrationsRead - before == 1)
    }

    @Test func `messages that share an audience read its registrations once, and each reaches its own platform`() throws
    {
        let store = MemoryHubStore()
        for (index, handle) in [try DeviceHandle.fcm("token-1"), try .fcm("token-2")].enumerated() {
            let id = try #require(RegistrationID("\(index)-1-1"))
            let description = RegistrationDescription(tags: [try Tag("username:alice")], handle: handle)
            _ = try store.putHubRegistration(HubRegistration(description, id: id, version: 0, now: 0))
        }
        let selection = TargetSelection(store: store, reader: RegistrationReader { _ in }).sharing()
        let alice = TagExpression.tag(try Tag("username:ALICE"))
        #expect(try selection.hasTarget(.native(.fcm), alice))
        let read = store.registrationsRead
        #expect(try !selection.hasTarget(.native(.apns), alice))
        #expect(try !selection.hasTarget(.native(.fcm), .and(alice, .not(alice))))
        var found: [String?] = []
        try selection.forEach(.native(.fcm), alice) { found.append($0.registrationID) }
        #expect(found.compactMap(\.self).sorted() == ["0-1-1", "1-1-1"])
        #expect(store.registrationsRead == read)
    }

    @Test func `an audience of many is not kept, and is still reached`() throws {
        let store = MemoryHubStore()
        for index in 0..<200 {
            let id = try #require(RegistrationID("\(index)-1-1"))
            let description = RegistrationDescription(tags: [try Tag("all")], handle: try .fcm("token-\(index)"))
            _ = try store.putHubRegistration(HubRegistration(description, id: id, version: 0, now: 0))
        }
        let selection = TargetSelection(store: store, reader: RegistrationReader { _ in }).sharing()
        for _ in 0..<2 {
            var count = 0
            try selection.forEach(.native(.fcm), .tag(Tag("all"))) { _ in count += 1 }
            #expect(count == 200)
            #expect(try selection.hasTarget(.native(.fcm), .tag(Tag("all"))))
            #expect(try !selection.hasTarget(.native(.apns), .tag(Tag("all"))))
        }
    }

    @Test func `a cover is a part of every match`() throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<500 {
            let expression = try expression(4, &random)
            for mask in 0..<32 {
                let tags = try Set(
                    Self.names.enumerated().filter { mask >> $0.offset & 1 == 1 }.map { try Tag($0.element) })
                guard expression.matches(tags), let cover = try Self.cover(expression) else { continue }
                #expect(cover.contains { tags.contains($0) }, "\(expression)")
            }
        }
    }

    @Test(
        arguments: [
            ("a", ["a"]), ("a || b", ["a", "b"]), ("a && b", ["a"]), ("(a || b) && c", ["c"]), ("a && !b", ["a"]),
            ("!a", nil), ("a || !b", nil), ("!(!a)", ["a"]), ("!(!a || b)", ["a"]), ("!(!a && !b)", ["a", "b"]),
            ("a || a", ["a"]), ("!a && !b", nil),
        ] as [(String, [String]?)])
    func `the index is asked for the fewest tags that will do`(text: String, expected: [String]?) throws {
        let cover = try Self.cover(TagExpression(parsing: text))
        #expect(cover.map { $0.map(\.folded) } == expected)
    }

    /// As if all tags had the same number of registrations.
    private static func cover(_ expression: TagExpression) throws -> [NotificationHub.Tag]? {
        try TargetSelection.cover(expression) { $0.count < $1.count }
    }

    @Test(arguments: [
        "all && ten", "ten && all", "all && !none && ten", "(ten || none) && all", "all && (none || ten)",
        "!(!all || !ten)", "all && most && ten", "most && (ten && all)",
    ])
    func `the cost of an expression does not depend on its spelling`(text: String) throws {
        let store = MemoryHubStore()
        for index in 0..<3_000 {
            let tags = ["all"] + (index < 2_000 ? ["most"] : []) + (index < 10 ? ["ten"] : [])
            let id = try #require(RegistrationID("\(index)-1-1"))
            let description = RegistrationDescription(
                tags: try tags.map { try Tag($0) }, handle: try .fcm("token-\(index)"))
            _ = try store.putHubRegistration(HubRegistration(description, id: id, version: 0, now: 0))
        }
        var found = 0
        let selection = TargetSelection(store: store, reader: RegistrationReader { _ in })
        try selection.forEach(.native(.fcm), TagExpression(parsing: text)) { _ in found += 1 }
        #expect(found == 10)
        #expect(try selection.hasTarget(.native(.fcm), TagExpression(parsing: text)))
        #expect(store.registrationsRead <= 20)
    }
}
