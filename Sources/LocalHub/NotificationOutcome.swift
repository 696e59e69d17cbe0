// SPDX-License-Identifier: Apache-2.0
import NotificationHub
internal import Push
import XML

/// The answer to a test send: each device's fate by itself.
struct NotificationOutcome {
    /// Devices that a test send shows; Azure sends to no more than these.
    static let maximumResults = 10

    private var results: [(target: Target, outcome: PushOutcome)] = []

    /// Whether there was no target.
    var isEmpty: Bool { results.isEmpty }

    mutating func add(_ target: Target, _ outcome: PushOutcome) {
        if results.count < Self.maximumResults { results.append((target, outcome)) }
    }

    /// `<NotificationOutcome>`, as `POST /{hub}/messages?test` answers it. The handles in it go to a caller who may
    /// send to them.
    func encode() -> [UInt8] {
        var xml = XMLWriter()
        let attributes: KeyValuePairs = ["xmlns": Namespace.hub, "xmlns:i": Namespace.instance]
        xml.element("NotificationOutcome", attributes: attributes) { xml in
            let successes = results.count { $0.outcome == .success }
            xml.element("Success", String(successes))
            xml.element("Failure", String(results.count - successes))
            xml.element("Results") { xml in
                for (target, outcome) in results { Self.write(target, outcome, to: &xml) }
            }
        }
        return xml.bytes
    }

    private static func write(_ target: Target, _ outcome: PushOutcome, to xml: inout XMLWriter) {
        xml.element("RegistrationResult") { xml in
            xml.element("ApplicationPlatform", target.description.platform.formatHeader)
            xml.element("PnsHandle", target.description.handle.channel)
            if let id = target.registrationID { xml.element("RegistrationId", id) }
            xml.element("Outcome", outcome.rawValue)
        }
    }
}
