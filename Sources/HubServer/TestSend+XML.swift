// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import XML

extension TestSend {
    /// `<NotificationOutcome>`, as `POST /{hub}/messages?test` answers it. The handles in it go to a caller who may
    /// send to them.
    func encode() -> [UInt8] {
        var xml = XMLWriter()
        let attributes: KeyValuePairs = ["xmlns": Namespace.hub, "xmlns:i": Namespace.instance]
        xml.element("NotificationOutcome", attributes: attributes) { xml in
            let successes = results.count { $0.isSuccess }
            xml.element("Success", String(successes))
            xml.element("Failure", String(results.count - successes))
            xml.element("Results") { xml in
                for result in results { Self.write(result, to: &xml) }
            }
        }
        return xml.bytes
    }

    private static func write(_ result: Result, to xml: inout XMLWriter) {
        xml.element("RegistrationResult") { xml in
            xml.element("ApplicationPlatform", result.handle.platform.formatHeader)
            xml.element("PnsHandle", result.handle.channel)
            if let id = result.registrationID { xml.element("RegistrationId", id) }
            xml.element("Outcome", result.outcome)
        }
    }
}
