// SPDX-License-Identifier: Apache-2.0
internal import Text
import XML

extension NotificationDetails {
    /// Elements of outcomes in the order of .NET's data contract; the URI of the error details comes after the fifth.
    private static let outcomeElements: [(name: String, platform: Platform)] = Platform.allCases
        .sorted { $0.traits.outcome.place < $1.traits.outcome.place }.map { ($0.traits.outcome.name, $0) }
    private static let elementsBeforeErrorDetails = 5

    /// Reads a hub's answer. Elements that are not known here are passed over.
    /// - Throws: `AtomError`.
    package init(decoding bytes: [UInt8]) throws(AtomError) {
        let root = try AtomError.root(of: bytes)
        guard root.name == .hub("NotificationDetails") else { throw .unexpectedElement }
        func text(_ name: String) -> String? {
            root.child(.hub(name)).flatMap { $0.isNil || $0.text.isEmpty ? nil : $0.text }
        }
        guard let id = text("NotificationId"), let state = text("State") else { throw .unexpectedElement }
        self.init(
            id: id, location: text("Location"), state: state, enqueueTime: text("EnqueueTime"),
            startTime: text("StartTime"), endTime: text("EndTime"), body: text("NotificationBody").map(Secret.init),
            tags: text("Tags"), targetPlatforms: text("TargetPlatforms"),
            errorDetailsURI: text("PnsErrorDetailsUri"))
        for (name, platform) in Self.outcomeElements {
            guard let element = root.child(.hub(name)), !element.isNil else { continue }
            outcomes.append(PlatformOutcomes(platform, try Self.counts(in: element)))
        }
    }

    private static func counts(in element: XMLElement) throws(AtomError) -> [PlatformOutcomes.Count] {
        var counts: [PlatformOutcomes.Count] = []
        for outcome in element.children where outcome.name == .hub("Outcome") {
            guard let name = outcome.child(.hub("Name"))?.text,
                let count = outcome.child(.hub("Count")).flatMap({ Int($0.text) }), count >= 0
            else { throw .badNumber }
            counts.append(PlatformOutcomes.Count(name, count))
        }
        return counts
    }

    /// The bytes of a hub's answer.
    package func encode() -> [UInt8] {
        var xml = XMLWriter()
        let attributes: KeyValuePairs = ["xmlns": Namespace.hub, "xmlns:i": Namespace.instance]
        xml.element("NotificationDetails", attributes: attributes) { xml in
            xml.element("NotificationId", id)
            xml.optional("Location", location)
            xml.element("State", state)
            xml.optional("EnqueueTime", enqueueTime)
            xml.optional("StartTime", startTime)
            xml.optional("EndTime", endTime)
            xml.optional("NotificationBody", body?.reveal())
            xml.optional("Tags", tags)
            xml.optional("TargetPlatforms", targetPlatforms)
            write(Self.outcomeElements.prefix(Self.elementsBeforeErrorDetails), to: &xml)
            xml.optional("PnsErrorDetailsUri", errorDetailsURI)
            write(Self.outcomeElements.dropFirst(Self.elementsBeforeErrorDetails), to: &xml)
        }
        return xml.bytes
    }

    private func write(_ elements: ArraySlice<(name: String, platform: Platform)>, to xml: inout XMLWriter) {
        for (name, platform) in elements {
            for outcome in outcomes where outcome.platform == platform {
                xml.element(name) { xml in
                    for count in outcome.counts {
                        xml.element("Outcome") { xml in
                            xml.element("Name", count.name)
                            xml.element("Count", String(count.count))
                        }
                    }
                }
            }
        }
    }
}
