// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Support
import Testing
import XML

@Suite struct AtomTests {
    @Test func `every type of registration is read and written, byte for byte`() throws {
        for (type, members, registration) in try Self.rows() {
            let document = Self.answer(type, members)
            let entry = AtomEntry(link: Self.link, updated: "2018-11-07T00:18:29Z", registration: registration)
            #expect(Sample.text(entry.encode()) == document)
            #expect(try AtomEntry(decoding: [UInt8](document.utf8)) == entry)
        }
    }

    @Test func `what a client sends is what the hub reads, without what is the hub's`() throws {
        for (_, _, registration) in try Self.rows() {
            var asked = registration
            asked.id = nil
            asked.etag = nil
            asked.expirationTime = nil
            let bytes = AtomEntry.encodeRequest(registration)
            #expect(try AtomEntry.decodeRequest(bytes) == asked)
            #expect(!Sample.text(bytes).contains("i:nil"))
        }
        let plain = RegistrationDescription(tags: [try Tag("t1"), try Tag("t2")], handle: try .apns("abcdef01"))
        #expect(
            AtomEntry.encodeRequest(plain)
                == Self.request(
                    "AppleRegistrationDescription", "<Tags>t1,t2</Tags><DeviceToken>ABCDEF01</DeviceToken>"
                ))
    }

    @Test func `a feed is read and written, byte for byte`() throws {
        let rows = try Self.rows()
        let entries = rows.map {
            AtomEntry(link: Self.link, updated: "2018-11-07T00:18:29Z", registration: $0.registration)
        }
        for next in [nil, "https://ns.example/hub/registrations?$top=2&continuationtoken=MzE%253D"] {
            let feed = AtomFeed(link: Self.link, next: next, updated: "2018-11-07T00:18:38Z", entries: entries)
            let link = Self.link.replacing("&", with: "&amp;")
            let document =
                "<feed xmlns=\"\(Self.atom)\"><title type=\"text\">Registrations</title><id>\(link)</id>"
                + "<updated>2018-11-07T00:18:38Z</updated><link rel=\"self\" href=\"\(link)\"/>"
                + (next.map { "<link rel=\"next\" href=\"\($0.replacing("&", with: "&amp;"))\"/>" } ?? "")
                + rows.map { Self.answer($0.type, $0.members, isRoot: false) }.joined() + "</feed>"
            #expect(Sample.text(feed.encode()) == document)
            #expect(try AtomFeed(decoding: [UInt8](document.utf8)) == feed)
        }
        let empty = try AtomFeed(decoding: AtomFeed(link: "x", updated: "y").encode())
        #expect(empty.entries.isEmpty && empty.next == nil)
    }

    @Test func `other spellings of the same request are read alike`() throws {
        let expected = RegistrationDescription(tags: [try Tag("a"), try Tag("b")], handle: try .apns("AB01"))
        let plain = "<Tags>a,b</Tags><DeviceToken>AB01</DeviceToken>"
        let requests = [
            Self.request("AppleRegistrationDescription", plain),
            Self.request("AppleRegistrationDescription", "<DeviceToken>ab01</DeviceToken><Tags> a, b,\n</Tags>"),
            Self.request(
                "AppleRegistrationDescription",
                "\n <RegistrationId i:nil=\"true\" /><PushVariables i:nil=\"1\"/><DeviceToken>\n<![CDATA[AB]]>01 </DeviceToken>"
                    + "<Future>x</Future><Tags>a,b</Tags><!-- c --><?pi x?>"),
            [UInt8](
                ("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<entry xmlns = \"\(Self.atom)\">\n <content type=\"text/xml\">\n"
                    + "<RegistrationDescription xmlns:i=\"\(Self.instance)\" i:type=\"AppleRegistrationDescription\" "
                    + "xmlns=\"\(Self.hub)\">\(plain)</RegistrationDescription>\n</content></entry>").utf8),
            [UInt8](
                ("<z:entry xmlns:z=\"\(Self.atom)\" xmlns:q=\"\(Self.hub)\"><z:content><q:RegistrationDescription "
                    + "xmlns:x=\"\(Self.instance)\" x:type=\"q:AppleRegistrationDescription\"><q:DeviceToken>AB01"
                    + "</q:DeviceToken><q:Tags>a,b</q:Tags></q:RegistrationDescription></z:content></z:entry>").utf8),
        ]
        for bytes in requests { #expect(try AtomEntry.decodeRequest(bytes) == expected, "\(Sample.text(bytes))") }
    }

    static let refused: [(type: String, members: String, error: AtomError)] = [
        ("AppleRegistrationDescription", "", .badHandle(.empty)),
        ("AppleRegistrationDescription", "<DeviceToken>xyz</DeviceToken>", .badHandle(.notHexadecimal)),
        ("AppleRegistrationDescription", "<DeviceToken xmlns=\"x\">AB</DeviceToken>", .badHandle(.empty)),
        ("WindowsRegistrationDescription", "<ChannelUri>http://h/</ChannelUri>", .badHandle(.notHTTPS)),
        ("XiaomiRegistrationDescription", "<X>1</X>", .unknownType),
        ("RegistrationDescription", "<DeviceToken>AB</DeviceToken>", .unknownType),
        (
            "AppleRegistrationDescription", "<DeviceToken>AB</DeviceToken><DeviceToken>CD</DeviceToken>",
            .repeatedElement
        ),
        ("AppleRegistrationDescription", "<DeviceToken>AB</DeviceToken><Tags>a b</Tags>", .badTag),
        ("AppleRegistrationDescription", "<DeviceToken>AB</DeviceToken><Tags>a&amp;b</Tags>", .badTag),
        ("AppleRegistrationDescription", "<DeviceToken>AB</DeviceToken><Tags>$UserId:{a}</Tags>", .badTag),
        (
            "AppleRegistrationDescription",
            "<DeviceToken>AB</DeviceToken><Tags>\(String(repeating: "a,", count: 4001))</Tags>", .tooManyTags
        ),
        (
            "AppleRegistrationDescription",
            "<DeviceToken>AB</DeviceToken><ExpirationTime>2030-01-01T00:00:00Z</ExpirationTime>", .expirationGiven
        ),
        (
            "AppleRegistrationDescription", "<DeviceToken>AB</DeviceToken><RegistrationId>a/b</RegistrationId>",
            .badRegistrationID
        ),
        ("GcmTemplateRegistrationDescription", "<GcmRegistrationId>g</GcmRegistrationId>", .missingTemplate),
        (
            "WindowsTemplateRegistrationDescription",
            "<ChannelUri>https://h/</ChannelUri><BodyTemplate>x</BodyTemplate><WnsHeaders><WnsHeader/></WnsHeaders>",
            .badHeader
        ),
    ]

    @Test(arguments: refused.indices)
    func `a request that says something wrong is refused with its reason`(_ row: Int) {
        let (type, members, error) = Self.refused[row]
        #expect(throws: error) { try AtomEntry.decodeRequest(Self.request(type, members)) }
    }

    /// Documents that are no entry, or more than one.
    static let notXML = [
        "", "x", "<entry", "<entry/><entry/>", "<entry xmlns=\"\(atom)\"></feed>", "<a:entry/>",
        "<?xml version=\"1.0\" encoding=\"utf-16\"?>" + "<a>\u{0}</a>", "<entry>&undefined;</entry>",
        "<!DOCTYPE entry><entry xmlns=\"\(atom)\"/>",
        "<!DOCTYPE l [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\">]><entry>&b;</entry>",
        "<!DOCTYPE r [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><entry>&x;</entry>",
        String(repeating: "<a>", count: 100_000),
        String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
        "<a>" + String(repeating: "<b/>", count: 65_536) + "</a>",
        "<a>" + String(repeating: " ", count: 4 * 1024 * 1024) + "</a>",
    ]

    @Test(arguments: notXML.indices)
    func `what is not XML, is too much of it or brings a document type is refused`(_ row: Int) {
        #expect(throws: AtomError.notXML) { try AtomEntry(decoding: [UInt8](Self.notXML[row].utf8)) }
        #expect(throws: AtomError.notXML) { try AtomFeed(decoding: [UInt8](Self.notXML[row].utf8)) }
    }

    @Test func `another document is no entry`() {
        for document in ["<entry/>", "<entry xmlns=\"\(Self.atom)\"/>", "<feed xmlns=\"\(Self.atom)\"/>", "<Error/>"] {
            #expect(throws: AtomError.unexpectedElement) { try AtomEntry(decoding: [UInt8](document.utf8)) }
        }
        #expect(throws: AtomError.unexpectedElement) {
            try AtomFeed(decoding: [UInt8](Self.answer("Apple", "<DeviceToken>AB</DeviceToken>").utf8))
        }
    }

    @Test func `the tags that the hub adds by itself are kept apart and written back`() throws {
        let members = "<DeviceToken>AB</DeviceToken>"
        let text = Self.answer("Apple", members).replacing(
            "tag1,größe", with: "$InstallationId:{0f-1},tag1,Template Name")
        let entry = try AtomEntry(decoding: [UInt8](text.utf8))
        #expect(entry.registration.tags == [try Tag(system: "$InstallationId:{0f-1}"), try Tag("tag1")])
        #expect(entry.registration.unaddressableTags == ["Template Name"])
        #expect(Sample.text(entry.encode()) == text)
    }

    @Test func `an entry that is not understood does not hide the others`() throws {
        let good = Self.answer("Apple", "<DeviceToken>AB</DeviceToken>", isRoot: false)
        let feed = try AtomFeed(
            decoding: [UInt8](
                "<feed xmlns=\"\(Self.atom)\">\(Self.answer("Xiaomi", "", isRoot: false))\(good)<entry/></feed>".utf8))
        #expect(feed.entries.count == 1)
        #expect(feed.unreadable == 2)
    }

    @Test func `the etag comes from the description, else from the envelope`() throws {
        let text = Self.answer("Apple", "<DeviceToken>AB</DeviceToken>").replacing("<ETag>3</ETag>", with: "")
            .replacing("a:etag=\"W/&quot;3", with: "p1:etag=\"W/&quot;8").replacing("xmlns:a", with: "xmlns:p1")
        #expect(try AtomEntry(decoding: [UInt8](text.utf8)).registration.etag == "8")
    }

    /// Bodies that CDATA or XML would break.
    @Test(arguments: [
        "]]>", "a]]]>b]]>", "]]]]>>", "<a b=\"c\">&amp;</a>", "line\nline\ttab", "carriage\rreturn\r\n", "]", "]]",
        "😀 é",
        " blanks ",
    ])
    func `a template arrives as it was, whatever is in it`(_ body: String) throws {
        var registration = RegistrationDescription(
            pushVariables: body, handle: try .fcm("f"), template: Template(body: body, name: body))
        registration.id = RegistrationID("1")
        let entry = AtomEntry(link: body, updated: "", registration: registration)
        let again = try AtomEntry(decoding: entry.encode())
        #expect(again.registration.template?.body.utf8.elementsEqual(body.utf8) == true)
        #expect(again.registration.template?.name?.utf8.elementsEqual(body.utf8) == true)
        #expect(again.registration.pushVariables?.utf8.elementsEqual(body.utf8) == true)
        #expect(again.link == body)
        #expect(try AtomEntry.decodeRequest(AtomEntry.encodeRequest(registration)).template?.body == body)
    }

    @Test func `values are escaped, and what XML cannot carry is replaced`() {
        var xml = XMLWriter()
        xml.element("a", "<&>\"\u{1}\u{FFFE}", attributes: ["b": "\"<\n\t>"])
        xml.emptyElement("c")
        #expect(Sample.text(xml.bytes) == "<a b=\"&quot;&lt;&#10;&#9;&gt;\">&lt;&amp;&gt;\"\u{FFFD}\u{FFFD}</a><c/>")
    }

    @Test func `mutations of good documents never trap, and what is taken reads the same again`() throws {
        var random = SeededRandom(seed: 0xA70)
        let documents = try Self.rows().map { [UInt8](Self.answer($0.type, $0.members).utf8) }
        var taken = 0
        for round in 0..<6000 {
            let bytes = random.mutate(documents[round % documents.count])
            guard let entry = try? AtomEntry(decoding: bytes) else { continue }
            taken += 1
            #expect((try? AtomEntry(decoding: entry.encode())) == entry)
        }
        #expect(taken > 100)
    }
}
