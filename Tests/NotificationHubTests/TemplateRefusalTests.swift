// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Testing

/// The templates that a hub refuses when a device registers.
@Suite struct `A template that cannot be filled in` {
    static let apple = try? DeviceHandle.apns("AB")
    static let windows = try? DeviceHandle.wns("https://db5p.notify.windows.com/?token=1")
    static let toast = PushHeader("X-WNS-Type", "wns/toast")

    private func error(_ handle: DeviceHandle?, _ template: Template, _ variables: String? = nil) throws -> String? {
        let device = RegistrationDescription(
            pushVariables: variables, handle: try #require(handle), template: template)
        do throws(TemplateError) {
            try device.checkTemplate()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("nope", "BodyTemplate, byte 1: it must be JSON or XML"),
        ("text", "BodyTemplate, byte 1: it must be JSON or XML"),
        ("", "BodyTemplate, byte 0: it must be JSON or XML"),
        (#"["$(m"]"#, "byte 5: a closing parenthesis"), (#"["{$(m)"]"#, "byte 7: + or a closing brace"),
        (#"["$(bad-name)"]"#, "byte 7: a closing parenthesis"), (#"["$()"]"#, "byte 4: a property's name"),
        (#"["$(é)"]"#, "byte 4: a property's name"), (#"["$(a>b)"]"#, "byte 5: a closing parenthesis"),
        ("[\"$(\(String(repeating: "n", count: 121)))\"]", "byte 4: a property's name"),
        (#"[".(t)"]"#, "byte 5: a length"), (#"["%(t, 3)"]"#, "byte 5: a closing parenthesis"),
        (##"["#(t, 3)"]"##, "byte 5: a closing parenthesis"), (#"["$(t, -1)"]"#, "byte 7: a length"),
        (#"["$(t, x)"]"#, "byte 7: a length"), (##"["{#(n)+'x'}"]"##, "byte 12: a number cannot"),
        (#"["{'abc + $(m)}"]"#, "byte 15: the text is not closed"),
        (#"["{$(a) - $(b)}"]"#, "byte 8: + or a closing brace"),
        (#"["$(a) $(b)"]"#, "byte 6: nothing may follow"), (#"["$body"]"#, "byte 2: a text that begins with $"),
        (#"["$5 off"]"#, "byte 2: a text that begins"), (##"["#hashtag"]"##, "byte 2: a text that begins"),
        (#"["{}"]"#, "byte 3: a property or a quoted text"), (#"["$(a)x"]"#, "byte 6: nothing may follow"),
        (#"["$(a) + 'x'"]"#, "byte 6: nothing may follow"), (#"["$(x:open)"]"#, "byte 6: a default"),
        (#"{"a":["x",{"b":"$(m"}]}"#, "byte 19: a closing parenthesis"),
        (#"["\u0024(m"]"#, "byte 3: a closing parenthesis"),
    ])
    func `is refused with the byte and the rule`(body: String, message: String) throws {
        let error = try #require(try error(Self.apple, Template(body: body)))
        #expect(error.contains(message) && error.hasPrefix("BodyTemplate, byte "), "\(error)")
    }

    @Test func `is refused if its JSON has a fault`() throws {
        for (body, offset) in [(#"{"aps":"#, 7), ("{\"a\":\"\u{1}\"}", 6), ("[1,]", 3)] {
            #expect(try error(Self.apple, Template(body: body))?.hasPrefix("BodyTemplate, byte \(offset): ") == true)
        }
    }

    @Test(arguments: [
        ("<toast>", "BodyTemplate, byte 7: XML must be well-formed"),
        ("<tile><binding $(p)><text/></binding></tile>", "BodyTemplate, byte 15: XML must be well-formed"),
        ("<!DOCTYPE toast><toast/>", "BodyTemplate: XML must be well-formed"),
        ("<message/>", "BodyTemplate: the root must be toast"),
        ("<toast><text>$(a&gt;b)</text></toast>", "BodyTemplate, byte 3: a closing parenthesis"),
        ("<toast><text>$(a</text></toast>", "BodyTemplate, byte 16: a closing parenthesis"),
        ("<toast a='$(a'><text/></toast>", "BodyTemplate, byte 13: a closing parenthesis"),
        ("<toast><text><![CDATA[$()]]></text></toast>", "BodyTemplate, byte 24: a property's name"),
    ])
    func `is refused if its XML has a fault`(body: String, message: String) throws {
        let error = try error(Self.windows, Template(body: body, headers: [Self.toast]))
        #expect(error?.hasPrefix(message) == true, "\(error ?? "")")
    }

    @Test(arguments: [
        ("Expiry: it must be a time", Template(body: "{}", expiry: "tomorrow")),
        ("Expiry, byte 3: a closing parenthesis", Template(body: "{}", expiry: "$(e")),
        ("Priority: it must be a number", Template(body: "{}", priority: "high")),
        ("Priority, byte 0: a text that begins", Template(body: "{}", priority: "$5")),
        ("TemplateName: it may have 200", Template(body: "{}", name: String(repeating: "n", count: 201))),
        ("a header: its name must begin with apns-", Template(body: "{}", headers: [PushHeader("X-Other", "1")])),
        ("a header: it must be a number", Template(body: "{}", headers: [PushHeader("apns-expiration", "soon")])),
        ("a header: it needs a name and a value", Template(body: "{}", headers: [PushHeader("apns-topic", "")])),
        ("a header, byte 3: a closing parenthesis", Template(body: "{}", headers: [PushHeader("apns-topic", "$(t")])),
    ])
    func `is refused for what is beside its body`(message: String, template: Template) throws {
        #expect(try error(Self.apple, template)?.hasPrefix(message) == true)
    }

    @Test func `is refused with push variables that are no object, or without the header of its type`() throws {
        for variables in ["x", "[]", "{"] {
            let error = try error(Self.apple, Template(body: "{}"), variables)
            #expect(error == "PushVariables: they must be a JSON object")
        }
        let typeless = Template(body: "<toast/>")
        #expect(try error(Self.windows, typeless) == "a header: the template needs the header X-WNS-Type")
    }

    @Test(
        arguments: [
            (apple, ##"{"aps":{"title":"50%","body":"{'Hi, ' +\n $(n, 3)}","badge":"#(b)"},"x":"..."}"##, nil),
            (windows, "<toast launch=\"$(a)\"><text>Hello <i>you</i> $5</text><text>$(m)</text></toast>", "wns/toast"),
            (windows, #"{"id":"$(i)"}"#, "wns/toast"), (windows, "<root><id>$(i)</id></root>", "wns/raw"),
            (windows, "<root/>", "$(type)"),
            (windows, "<?xml version=\"1.0\" encoding=\"utf-16\"?><badge/>", "wns/badge"),
        ] as [(DeviceHandle?, String, String?)])
    func `is another than one that can`(handle: DeviceHandle?, body: String, type: String?) throws {
        let headers = type.map { [PushHeader("X-WNS-Type", $0)] } ?? [PushHeader("apns-priority", "$(p)")]
        #expect(try error(handle, Template(body: body, headers: headers), #"{"v":"1"}"#) == nil)
    }

    @Test(arguments: ["", "0", "$(e)", "2030-01-01", "01/02/2030 13:04:05", "2018-11-07T16:18:32.6641371-08:00"])
    func `has not an expiry in one of these spellings`(expiry: String) throws {
        #expect(try error(Self.apple, Template(body: "{}", expiry: expiry, priority: "$(p)")) == nil)
    }
}
