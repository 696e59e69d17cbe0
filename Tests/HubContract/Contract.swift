// SPDX-License-Identifier: Apache-2.0
package import NotificationHub
import Testing

// Testing has a type of this name too.
typealias Tag = NotificationHub.Tag

/// What every hub promises a backend, whatever lies between them. Each rule uses devices and tags of its own, so that a hub
/// may have others.
package struct Contract: Sendable, CustomTestStringConvertible {
    /// The rule as a sentence.
    package let testDescription: String
    private let check: @Sendable (any Hub) throws -> Void

    init(_ sentence: String, _ check: @escaping @Sendable (any Hub) throws -> Void) {
        testDescription = sentence
        self.check = check
    }

    /// Records an issue for what the hub does not keep.
    /// - Parameter hub: without a driver for any push service.
    /// - Throws: what the hub throws against the rule.
    package func run(_ hub: any Hub) throws {
        try check(hub)
    }

    package static let rules =
        registrationRules + ensureRules + lookupRules + sendRules + severalRules + refusalRules
}

/// Devices and tags that no other rule has.
struct Sample {
    private let name = "\(UInt32.random(in: .min ... .max))"

    func tag(_ text: String) throws -> Tag { try Tag("\(text)-\(name)") }

    func token(_ number: Int = 1) -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16, uppercase: true)
        return digits.count.isMultiple(of: 2) ? digits + "0\(number % 10)" : digits + "\(number % 10)"
    }

    func uri(_ path: String) -> String { "https://host-\(name).example/\(path)" }

    /// Stores a registration under a new id.
    @discardableResult
    func register(
        _ handle: DeviceHandle, _ tags: [Tag] = [], template: Template? = nil, at hub: any Hub
    ) throws -> RegistrationID {
        let id = try hub.createRegistrationID()
        let description = RegistrationDescription(id: id, tags: tags, handle: handle, template: template)
        #expect(try hub.createOrUpdate(description).id == id)
        return id
    }
}
