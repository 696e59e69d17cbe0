// SPDX-License-Identifier: Apache-2.0
import XML

extension RegistrationDescription {
    /// Who will read the description.
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
            if platform.hasTiles { xml.optional("SecondaryTileName", secondaryTileName) }
            template?.write(to: &xml, platform, direction)
        }
    }
}

extension DeviceHandle {
    fileprivate func write(to xml: inout XMLWriter) {
        switch value {
        case .apns(let text), .fcm(let text), .gcm(let text), .wns(let text), .mpns(let text), .adm(let text):
            xml.element(platform.handleElement, text)
        case .baidu(let userID, let channelID):
            xml.element("BaiduUserId", userID)
            xml.element(platform.handleElement, channelID)
        case .browser(let subscription):
            xml.element(platform.handleElement, subscription.endpoint)
            xml.element("P256DH", subscription.p256dh)
            xml.element("Auth", subscription.auth)
        }
    }
}

extension Template {
    fileprivate func write(
        to xml: inout XMLWriter, _ platform: Platform, _ direction: RegistrationDescription.Direction
    ) {
        xml.element("BodyTemplate") { $0.cdata(body) }
        if platform == .apns { xml.value("Expiry", expiry, direction) }
        if platform != .apns { writeHeaders(to: &xml, platform, direction) }
        xml.value("TemplateName", name, direction)
        if platform == .apns {
            xml.optional("Priority", priority)
            writeHeaders(to: &xml, platform, direction)
        }
    }

    private func writeHeaders(
        to xml: inout XMLWriter, _ platform: Platform, _ direction: RegistrationDescription.Direction
    ) {
        guard let element = platform.headerElement else { return }
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

extension Platform {
    /// The element of the handle; Baidu and browsers have further ones beside it.
    var handleElement: String {
        switch self {
        case .apns: "DeviceToken"
        case .fcm: "FcmV1RegistrationId"
        case .gcm: "GcmRegistrationId"
        case .wns, .mpns: "ChannelUri"
        case .adm: "AdmRegistrationId"
        case .baidu: "BaiduChannelId"
        case .browser: "Endpoint"
        }
    }

    /// The element of one header in a template, its list ending in `s`; nil where templates have none.
    var headerElement: String? {
        switch self {
        case .apns: "ApnsHeader"
        case .wns: "WnsHeader"
        case .mpns: "MpnsHeader"
        case .fcm, .gcm, .adm, .baidu, .browser: nil
        }
    }

    /// Whether a device of the platform may have further tiles on its start screen.
    var hasTiles: Bool { self == .wns || self == .mpns }
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
