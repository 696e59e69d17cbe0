// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Testing

/// What the hub makes of a device's template and of the properties of a send.
@Suite struct `A template` {
    private static let properties =
        #"{"name":"Ann","n":"40","Text":"This is the title line","odd":"a \"b\" <c> & d/e"}"#

    private func device(
        _ body: String, headers: [PushHeader] = [], variables: String? = nil, wns: Bool = false
    ) throws -> RegistrationDescription {
        let handle: DeviceHandle =
            try wns ? .wns("https://db5p.notify.windows.com/?token=1") : .apns(String(repeating: "AB", count: 32))
        return RegistrationDescription(
            pushVariables: variables, handle: handle, template: Template(body: body, headers: headers))
    }

    private func fill(_ device: RegistrationDescription, _ properties: String = properties) throws -> String {
        String(decoding: try device.filled(.template(json: Array(properties.utf8))).body, as: UTF8.self)
    }

    /// A JSON text that holds this expression alone, filled in.
    private func fill(_ expression: String) throws -> String {
        let escaped = expression.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\r\n", with: #"\r\n"#).replacing("\n", with: #"\n"#)
        let filled = try fill(try device("{\"v\":\"\(escaped)\"}"))
        return String(filled.dropFirst(#"{"v":"#.count).dropLast())
    }

    @Test(arguments: [
        ("$(name)", #""Ann""#), ("$(NAME)", #""Ann""#), ("$( text )", #""This is the title line""#), ("$(x)", #""""#),
        ("$(text, 4)", #""This""#), ("$(text,0)", #""""#), ("$(name, 40)", #""Ann""#), ("$(x:{you})", #""you""#),
        ("$(name:{you})", #""Ann""#), (#"$(x:{\}\\})"#, #""}\\""#), ("$(x:{someone}, 4)", #""some""#),
        (".(text, 20)", #""This is the title...""#), (".(text, 22)", #""This is the title line""#),
        (".(text, 2)", #""..""#),
        (".(name, 3)", #""Ann""#), ("%(text)", #""This%20is%20the%20title%20line""#), ("#(n)", "40"),
        ("#(name)", #""Ann""#),
        ("#(x)", #""""#), ("{'Hi, '+$(name)}", #""Hi, Ann""#), (#"{ "it''s " + $(name) + '!' }"#, #""it''s Ann!""#),
        ("{'it''s '+$(name)}", #""it's Ann""#), ("{$(name)+$(n)}", #""Ann40""#), ("{#(n)}", #""40""#),
        ("{\n'Hi, ' +\u{A0}\r\n$(name)\n}", #""Hi, Ann""#),
        ("$(odd)", #""a \"b\" <c> & d/e""#),
        // Texts, which are taken as they are.
        ("Hi $(name)", #""Hi $(name)""#), ("", #""""#), ("$5", #""$5""#), ("...", #""...""#), ("#1", ##""#1""##),
        (" $(name)", #"" $(name)""#), ("%", #""%""#),
    ])
    func `fills in each kind of expression`(_ expression: String, _ expected: String) throws {
        #expect(try fill(expression) == expected)
    }

    @Test(arguments: [
        ".(text)", "%(text, 3)", "#(n, 1)", "{$(name)", "{#(n)+'x'}", "$(bad-name)", "$(name", "$()",
        "$(name) and more",
        "{}", "{'open}", "{$(name)+}", "{$(name) $(n)}", "$(name, -1)", "$(name, 99999999999999999999)", "$(x:{open)",
        #"$(x:{open\"#, "$(x:open)", "{name}", "$(name, )",
    ])
    func `says that an expression cannot be read`(_ expression: String) throws {
        #expect(throws: TemplateFault.unreadable("an expression")) { try fill(expression) }
    }

    @Test func `keeps names, other values and the order of a JSON body`() throws {
        let body =
            #"{"aps":{"$(name)":1,"alert":{"title":"$(name)","loc-args":["$(n)","x",true,null,1.50]}},"b":"{'a'}"}"#
        #expect(
            try fill(device(body))
                == #"{"aps":{"$(name)":1,"alert":{"title":"Ann","loc-args":["40","x",true,null,1.50]}},"b":"a"}"#)
    }

    @Test func `fills in the attributes and texts of an XML body, and escapes them`() throws {
        let toast = #"""
             <toast launch="$(odd)" a="1"><visual><!-- x --><binding template="ToastGeneric" xml:lang="en">
             <text id="1">$(odd)</text><text>Hi $(name)</text><image/></binding></visual></toast>
            """#
        #expect(
            try fill(device(toast, wns: true))
                == #"<toast a="1" launch="a &quot;b&quot; &lt;c&gt; &amp; d/e"><visual>"#
                + #"<binding template="ToastGeneric" xml:lang="en"><text id="1">a "b" &lt;c&gt; &amp; d/e</text>"#
                + "<text>Hi $(name)</text><image></image></binding></visual></toast>")
    }

    @Test func `keeps text beside elements as it is`() throws {
        let body = "<toast><text>Hello <i>$(name)</i> $(name) &amp; co</text><text>$(n)</text>\n</toast>"
        #expect(
            try fill(device(body, wns: true))
                == "<toast><text>Hello <i>Ann</i> $(name) &amp; co</text><text>40</text></toast>")
    }

    @Test func `passes over a byte order mark before the properties`() throws {
        #expect(try fill(device(#"["$(name)"]"#), "\u{FEFF}" + Self.properties) == #"["Ann"]"#)
    }

    @Test func `keeps the namespaces of an XML body`() throws {
        let tile = #"<w:tile xmlns:w="urn:one" xmlns:o="urn:two" o:a="$(n)"><w:b/><c xmlns="urn:three"/><d/></w:tile>"#
        #expect(
            try fill(device(tile, wns: true))
                == #"<tile xmlns="urn:one" xmlns:n0="urn:two" n0:a="40"><b></b><c xmlns="urn:three"></c>"#
                + #"<d xmlns=""></d></tile>"#)
    }

    @Test func `fills in the values of headers, and an expiry and a priority that only Apple has`() throws {
        var device = try device(
            "{}", headers: [PushHeader("apns-collapse-id", "$(name)"), PushHeader("apns-push-type", "alert")])
        device.template?.priority = "$(n)"
        device.template?.expiry = "2030-01-01T00:00:00Z"
        let filled = try device.filled(.template(json: Array(Self.properties.utf8)))
        #expect(filled.format == .native(.apns))
        #expect(
            filled.headers == [
                PushHeader("apns-collapse-id", "Ann"), PushHeader("apns-push-type", "alert"),
                PushHeader("apns-priority", "40"), PushHeader("apns-expiration", "1893456000"),
            ])
    }

    @Test(
        arguments: [
            ("2030-01-01T00:00:00Z", "1893456000"), ("2030-01-01T00:00:00.5", "1893456000"),
            ("1893456000", "1893456000"), ("2030-01-01", "1893456000"), ("01/01/2030 00:00:00", "1893456000"),
            ("2018-11-07T16:18:32.6641371-08:00", "1541636312"),
            ("$(x)", nil), ("", nil),
        ] as [(String, String?)])
    func `leaves out headers without a value, and takes an expiry in each form`(_ expiry: String, _ expected: String?)
        throws
    {
        var device = try device(
            "{}", headers: [PushHeader("apns-collapse-id", "$(x)"), PushHeader("APNs-Priority", "5")])
        device.template?.expiry = expiry
        device.template?.priority = "10"
        let headers = try device.filled(.template(json: Array("{}".utf8))).headers
        let expiration = expected.map { [PushHeader("apns-expiration", $0)] } ?? []
        #expect(headers == [PushHeader("apns-priority", "10")] + expiration)
    }

    @Test func `takes a device's push variables where the send does not have the property`() throws {
        let device = try device(
            #"{"a":"$(name)","b":"$(city)","c":"$(list)"}"#, variables: #"{"NAME":"Bob","city":"Rome"}"#)
        #expect(try fill(device, #"{"name":"Ann","list":[1]}"#) == #"{"a":"Ann","b":"Rome","c":""}"#)
        for blank in ["", " \n"] {
            #expect(try fill(try self.device(#"["$(name)"]"#, variables: blank)) == #"["Ann"]"#)
        }
    }

    @Test func `says which part cannot be read, and repeats none of it`() throws {
        func fault(_ part: String, _ device: RegistrationDescription, _ properties: String = "{}") {
            #expect(throws: TemplateFault.unreadable(part)) { try fill(device, properties) }
        }
        fault("the template's body", try device("{"))
        fault("the template's body", try device("<toast>", wns: true))
        fault("the template's body", try device("<!DOCTYPE toast><toast/>", wns: true))
        fault("the properties", try device("{}"), "[]")
        fault("the push variables", try device("{}", variables: "x"))
        var native = try device("{}")
        native.template = nil
        fault("the registration, which has no template", native)
    }

    /// All of it at once would be 200 GB.
    @Test(arguments: ["$(text)", "%(text)", "$(text, 999999)", ".(text, 999999)"])
    func `stops before it holds far more than the service takes`(_ expression: String) throws {
        let text = "{\"text\":\"\(String(repeating: "x", count: 1_000_000))\"}"
        let leaves = "[" + Array(repeating: "\"\(expression)\"", count: 200_000).joined(separator: ",") + "]"
        let composite = "[\"{" + Array(repeating: expression, count: 200_000).joined(separator: "+") + "}\"]"
        for body in [leaves, composite] {
            #expect(throws: TemplateFault.tooLarge) { try fill(try device(body), text) }
        }
    }

    @Test func `takes four times what the service does, and no more`() throws {
        let room = 4 * Platform.apns.maximumPayload
        let most = String(repeating: "7", count: room)
        #expect(try fill(try device(#"["$(text)"]"#), "{\"text\":\"\(most)\"}").utf8.count == room + 4)
        for body in [##"["#(text)"]"##, #"["$(text)"]"#, #"["{'' + $(text)}"]"#] {
            #expect(throws: TemplateFault.tooLarge) { try fill(try device(body), "{\"text\":\"7\(most)\"}") }
        }
    }

    @Test(arguments: [
        ("$(t, 3)", "a👩‍👩‍👧b", "a"), ("$(t, 9)", "a👩‍👩‍👧b", "a👩‍👩‍👧"), ("$(t, 8)", "a👩‍👩‍👧b", "a"), ("$(t, 1)", "é", "é"),
        ("$(t, 1)", "e\u{301}", ""), ("$(t, 2)", "e\u{301}", "e\u{301}"), (".(t, 5)", "नमस्ते", "नम..."),
        ("$(t, 2)", "नमस्ते", "नम"),
        (".(t, 4)", "👍👍", "👍👍"), (".(t, 4)", "👍👍👍", "..."), (".(t, 5)", "👍👍👍", "👍..."),
    ])
    func `cuts no character in two`(_ expression: String, _ text: String, _ expected: String) throws {
        #expect(try fill(try device("[\"\(expression)\"]"), "{\"t\":\"\(text)\"}") == "[\"\(expected)\"]")
    }

    @Test(arguments: [
        ("40", "40"), ("0.5", "0.5"), ("1e5", "1e5"), ("1E+5", "1E+5"), ("1e999", "1e999"), ("-5", #""-5""#),
        ("05", #""05""#),
        ("1.", #""1.""#), ("+1", #""+1""#), (" 1", #"" 1""#), ("true", #""true""#),
    ])
    func `makes a number of what is one`(_ text: String, _ expected: String) throws {
        #expect(try fill(try device(##"["#(n)"]"##), "{\"n\":\"\(text)\"}") == "[\(expected)]")
    }

    @Test func `refuses names that would make its XML far larger than it came`() throws {
        let long = String(repeating: "x", count: 600)
        for body in [
            "<a xmlns=\"\(long)\"/>", "<\(long)/>", "<a \(long)=\"1\"/>", "<a xmlns:b=\"\(long)\" b:c=\"1\"/>",
        ] {
            #expect(throws: TemplateFault.unreadable("the template's body")) { try fill(try device(body, wns: true)) }
        }
    }
}
