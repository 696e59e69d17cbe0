// SPDX-License-Identifier: Apache-2.0
import XML

extension RegistrationDescription {
    /// The reader of the description.
    enum Direction {
        /// The hub: without what the hub alone knows (id, ETag, expiry) and without empty elements.
        case toHub
        /// A client: everything, and the empty elements that the hub writes for what a template could have.
        case toClient
    }

    /// Writes the description's element with its members in the order that .NET's data contract fixes; some readers
    /// skip what comes out of order.
    func write(to xml: inout XMLWriter, _ direction: Direction) {
        let name = platform.descriptionElement(isTemplate: template != nil)
        xml.element(name, attributes: ["xmlns": Namespace.hub, "xmlns:i": Namespace.instance]) { xml in
            if direction == .toClient {
                xml.optional("ETag", etag)
                xml.optional("ExpirationTime", expirationTime)
                xml.optional("RegistrationId", id?.description)
            }
            if !tagList.isEmpty { xml.element("Tags", tagList) }
            xml.optional("PushVariables", pushVariables)
            handle.write(to: &xml)
            if platform.traits.hasTiles { xml.optional("SecondaryTileName", secondaryTileName) }
            template?.write(to: &xml, platform, direction)
        }
    }
}

extension DeviceHandle {
    fileprivate func write(to xml: inout XMLWriter) {
        let parts = parts
        xml.optional("BaiduUserId", parts.baiduUser)
        xml.element(platform.traits.handleElement, parts.text)
        xml.optional("P256DH", parts.p256dh)
        xml.optional("Auth", parts.auth)
    }
}

extension Template {
    fileprivate func write(
        to xml: inout XMLWriter, _ platform: Platform, _ direction: RegistrationDescription.Direction
    ) {
        xml.element("BodyTemplate") { $0.cdata(body) }
        let expires = platform.traits.templatesExpire
        if expires { xml.value("Expiry", expiry, direction) }
        if !expires { writeHeaders(to: &xml, platform, direction) }
        xml.value("TemplateName", name, direction)
        if expires {
            xml.optional("Priority", priority)
            writeHeaders(to: &xml, platform, direction)
        }
    }

    private func writeHeaders(
        to xml: inout XMLWriter, _ platform: Platform, _ direction: RegistrationDescription.Direction
    ) {
        guard let element = platform.traits.headerElement else { return }
        guard !headers.isEmpty else {
            if direction == .toClient { xml.emptyElement(element + "s") }
            return
        }
        xml.element(element + "s") { xml in
            for header in headers {
                xml.element(element) { xml in
                    xml.element("Header", header.name)
                    xml.element("Value", header.value)
                }
            }
        }
    }
}

extension XMLWriter {
    /// Writes the element where there is a value.
    mutating func optional(_ name: String, _ text: String?) {
        if let text { element(name, text) }
    }

    /// Writes the element; where there is no value, `i:nil` to a client and nothing to the hub.
    fileprivate mutating func value(
        _ name: String, _ text: String?, _ direction: RegistrationDescription.Direction
    ) {
        if let text {
            element(name, text)
        } else if direction == .toClient {
            emptyElement(name, attributes: ["i:nil": "true"])
        }
    }
}
