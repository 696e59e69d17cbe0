// SPDX-License-Identifier: Apache-2.0
import NotificationHub

extension AtomTests {
    /// The members of every type as the hub answers them, in its order, and the values that they stand for.
    static func rows() throws -> [(type: String, members: String, registration: RegistrationDescription)] {
        let tags = [try Tag("tag1"), try Tag("größe")]
        let cdata = "<![CDATA[{\"a\":\"$(m)\"}]]>"
        let body = "{\"a\":\"$(m)\"}"
        let uri = try DeviceHandle.wns("https://some.url/")
        let mpns = try DeviceHandle.mpns("https://some.url/")
        let browser = try DeviceHandle.browser(
            endpoint: "https://push.example/e?a=1&b=2", p256dh: Sample.p256dh, auth: Sample.auth)
        let browserMembers =
            "<Endpoint>https://push.example/e?a=1&amp;b=2</Endpoint><P256DH>\(Sample.p256dh)</P256DH><Auth>\(Sample.auth)</Auth>"
        func make(_ handle: DeviceHandle, tile: String? = nil, _ template: Template? = nil) -> RegistrationDescription {
            RegistrationDescription(
                id: RegistrationID("7-4-1"), etag: "3", expirationTime: "9999-12-31T23:59:59.9999999", tags: tags,
                pushVariables: "{\"v\":\"1 < 2\"}", handle: handle, secondaryTileName: tile, template: template)
        }
        let named = Template(body: body, name: "T n")
        return [
            ("Apple", "<DeviceToken>AB01</DeviceToken>", make(try .apns("AB01"))),
            (
                "AppleTemplate",
                "<DeviceToken>AB01</DeviceToken><BodyTemplate>\(cdata)</BodyTemplate><Expiry>2030-01-01T00:00:00Z</Expiry>"
                    + "<TemplateName>T n</TemplateName><Priority>10</Priority><ApnsHeaders><ApnsHeader><Header>apns-push-type"
                    + "</Header><Value>alert</Value></ApnsHeader></ApnsHeaders>",
                make(
                    try .apns("AB01"),
                    Template(
                        body: body, name: "T n", expiry: "2030-01-01T00:00:00Z", priority: "10",
                        headers: [PushHeader("apns-push-type", "alert")]))
            ),
            (
                "AppleTemplate",
                "<DeviceToken>AB01</DeviceToken><BodyTemplate>\(cdata)</BodyTemplate><Expiry i:nil=\"true\"/>"
                    + "<TemplateName i:nil=\"true\"/><ApnsHeaders/>",
                make(try .apns("AB01"), Template(body: body))
            ),
            ("Gcm", "<GcmRegistrationId>g:1</GcmRegistrationId>", make(try .gcm("g:1"))),
            (
                "GcmTemplate",
                "<GcmRegistrationId>g:1</GcmRegistrationId><BodyTemplate>\(cdata)</BodyTemplate><TemplateName>T n</TemplateName>",
                make(try .gcm("g:1"), named)
            ),
            ("FcmV1", "<FcmV1RegistrationId>f:1</FcmV1RegistrationId>", make(try .fcm("f:1"))),
            (
                "FcmV1Template",
                "<FcmV1RegistrationId>f:1</FcmV1RegistrationId><BodyTemplate>\(cdata)</BodyTemplate>"
                    + "<TemplateName>T n</TemplateName>",
                make(try .fcm("f:1"), named)
            ),
            (
                "Windows", "<ChannelUri>https://some.url/</ChannelUri><SecondaryTileName>Tile</SecondaryTileName>",
                make(uri, tile: "Tile")
            ),
            (
                "WindowsTemplate",
                "<ChannelUri>https://some.url/</ChannelUri><BodyTemplate><![CDATA[<toast/>]]></BodyTemplate><WnsHeaders>"
                    + "<WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader></WnsHeaders>"
                    + "<TemplateName>T n</TemplateName>",
                make(uri, Template(body: "<toast/>", name: "T n", headers: [PushHeader("X-WNS-Type", "wns/toast")]))
            ),
            ("Mpns", "<ChannelUri>https://some.url/</ChannelUri>", make(mpns)),
            (
                "MpnsTemplate",
                "<ChannelUri>https://some.url/</ChannelUri><SecondaryTileName>Tile</SecondaryTileName><BodyTemplate>\(cdata)"
                    + "</BodyTemplate><MpnsHeaders><MpnsHeader><Header>X-NotificationClass</Header><Value>1</Value></MpnsHeader>"
                    + "<MpnsHeader><Header>X-WindowsPhone-Target</Header><Value>token</Value></MpnsHeader></MpnsHeaders>"
                    + "<TemplateName>T n</TemplateName>",
                make(
                    mpns, tile: "Tile",
                    Template(
                        body: body, name: "T n",
                        headers: [PushHeader("X-NotificationClass", "1"), PushHeader("X-WindowsPhone-Target", "token")])
                )
            ),
            ("Adm", "<AdmRegistrationId>amzn.1</AdmRegistrationId>", make(try .adm("amzn.1"))),
            (
                "AdmTemplate",
                "<AdmRegistrationId>amzn.1</AdmRegistrationId><BodyTemplate>\(cdata)</BodyTemplate><TemplateName>T n</TemplateName>",
                make(try .adm("amzn.1"), named)
            ),
            (
                "Baidu", "<BaiduUserId>u</BaiduUserId><BaiduChannelId>c</BaiduChannelId>",
                make(try .baidu(userID: "u", channelID: "c"))
            ),
            (
                "BaiduTemplate",
                "<BaiduUserId>u</BaiduUserId><BaiduChannelId>c</BaiduChannelId><BodyTemplate>\(cdata)</BodyTemplate>"
                    + "<TemplateName>T n</TemplateName>",
                make(try .baidu(userID: "u", channelID: "c"), named)
            ),
            ("Browser", browserMembers, make(browser)),
            (
                "BrowserTemplate",
                "\(browserMembers)<BodyTemplate>\(cdata)</BodyTemplate><TemplateName>T n</TemplateName>",
                make(browser, named)
            ),
        ]
    }

    static let base =
        "<ETag>3</ETag><ExpirationTime>9999-12-31T23:59:59.9999999</ExpirationTime><RegistrationId>7-4-1</RegistrationId>"
        + "<Tags>tag1,größe</Tags><PushVariables>{\"v\":\"1 &lt; 2\"}</PushVariables>"
    static let hub = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    static let instance = "http://www.w3.org/2001/XMLSchema-instance"
    static let atom = "http://www.w3.org/2005/Atom"
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    static let link = "https://ns.example/hub/registrations/7-4-1?api-version=2020-06&$top=2"

    static func answer(_ type: String, _ members: String, isRoot: Bool = true) -> String {
        let link = link.replacing("&", with: "&amp;")
        let element = "\(type)RegistrationDescription"
        return
            "<entry a:etag=\"W/&quot;3&quot;\"\(isRoot ? " xmlns=\"\(atom)\"" : "") xmlns:a=\"\(metadata)\"><id>\(link)</id>"
            + "<title type=\"text\">7-4-1</title><published>2018-11-07T00:18:29Z</published>"
            + "<updated>2018-11-07T00:18:29Z</updated><link rel=\"self\" href=\"\(link)\"/><content type=\"application/xml\">"
            + "<\(element) xmlns=\"\(hub)\" xmlns:i=\"\(instance)\">\(base)\(members)</\(element)></content></entry>"
    }

    static func request(_ type: String, _ members: String) -> [UInt8] {
        [UInt8](
            ("<entry xmlns=\"\(atom)\"><content type=\"application/xml\"><\(type) xmlns=\"\(hub)\" xmlns:i=\"\(instance)\">"
                + "\(members)</\(type)></content></entry>").utf8)
    }
}
