// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Support
import Testing
import Text

@Suite struct ConnectionStringTests {
    static let accepted: [(text: String, scheme: String, endpoint: String, name: String, key: String, path: String?)] =
        [
            (
                "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=full;SharedAccessKey=a+b/c=", "https",
                "ns.servicebus.windows.net", "full", "a+b/c=", nil
            ),
            (
                "sharedaccesskey=k==;ENDPOINT=sb://NS.Example.net;SharedAccessKeyName=n;", "https", "ns.example.net",
                "n",
                "k==", nil
            ),
            (
                "Endpoint=https://ns.example.net:8443/; SharedAccessKeyName=n ;SharedAccessKey=k;EntityPath=hub\n",
                "https",
                "ns.example.net:8443", "n", "k", "hub"
            ),
            (
                "Endpoint=http://127.0.0.1:80;SharedAccessKeyName=n;SharedAccessKey=k", "http", "127.0.0.1:80", "n",
                "k", nil
            ),
            ("Endpoint=http://[::1]:80/;SharedAccessKeyName=n;SharedAccessKey=k", "http", "[::1]:80", "n", "k", nil),
        ]

    @Test(arguments: accepted.indices)
    func `a complete text is taken in every spelling that portals and people write`(_ row: Int) throws {
        let expected = Self.accepted[row]
        let connection = try ConnectionString(expected.text)
        #expect(connection.scheme == expected.scheme)
        #expect(connection.endpoint == expected.endpoint)
        #expect(connection.keyName == expected.name)
        #expect(connection.key.reveal() == expected.key)
        #expect(connection.entityPath == expected.path)
    }

    static let refused: [(text: String, error: ConnectionStringError)] = [
        ("", .missing(.endpoint)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n", .missing(.sharedAccessKey)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=", .missing(.sharedAccessKey)),
        ("Endpoint=sb://h/;SharedAccessKey=k", .missing(.sharedAccessKeyName)),
        ("Endpoint=sb://h/;Endpoint=sb://g/;SharedAccessKeyName=n;SharedAccessKey=k", .repeated(.endpoint)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=k;Transport=x", .unknownField(position: 4)),
        ("Endpoint=sb://h/;nonsense", .unknownField(position: 2)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=a b", .illegalCharacter(.sharedAccessKey)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=\u{e9}", .illegalCharacter(.sharedAccessKey)),
        ("Endpoint=ftp://h/;SharedAccessKeyName=n;SharedAccessKey=k", .badEndpoint),
        ("Endpoint=sb://;SharedAccessKeyName=n;SharedAccessKey=k", .badEndpoint),
        ("Endpoint=sb://u@h/;SharedAccessKeyName=n;SharedAccessKey=k", .badEndpoint),
        ("Endpoint=sb://h/path;SharedAccessKeyName=n;SharedAccessKey=k", .badEndpoint),
        ("Endpoint=sb://h:0/;SharedAccessKeyName=n;SharedAccessKey=k", .badEndpoint),
        ("Endpoint=sb://h:65536/;SharedAccessKeyName=n;SharedAccessKey=k", .badEndpoint),
        ("Endpoint=sb://h:+1/;SharedAccessKeyName=n;SharedAccessKey=k", .badEndpoint),
        ("Endpoint=http://h/;SharedAccessKeyName=n;SharedAccessKey=k", .insecureEndpoint),
        ("Endpoint=http://127.evil.example/;SharedAccessKeyName=n;SharedAccessKey=k", .insecureEndpoint),
        (
            "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=" + String(repeating: "k", count: 257), .tooLong
        ),
        (String(repeating: ";", count: ConnectionString.maximumLength + 1), .tooLong),
    ]

    @Test(arguments: refused.indices)
    func `a text that is not understood is refused with its reason`(_ row: Int) {
        #expect(throws: Self.refused[row].error) { try ConnectionString(Self.refused[row].text) }
    }

    @Test func `neither the connection nor an error prints the key`() throws {
        let connection = try ConnectionString(Sample.connection)
        var dumped = ""
        dump(connection, to: &dumped)
        for text in ["\(connection)", String(reflecting: connection), dumped, "\(connection.key)"] {
            #expect(!text.contains(Sample.key))
        }
        #expect(throws: ConnectionStringError.unknownField(position: 1)) { try ConnectionString(Sample.key) }
        #expect(!"\(ConnectionStringError.unknownField(position: 1))".contains(Sample.key))
    }

    @Test func `secrets are equal when their texts are`() {
        #expect(Secret("abc") == Secret("abc"))
        #expect(Secret("abc") != Secret("abd"))
        #expect(Secret("abc") != Secret("abcd"))
    }

    @Test func `mutations of a good text never trap, and what is taken is whole`() {
        var random = SeededRandom(seed: 0xC0FFEE)
        for _ in 0..<4000 {
            guard let connection = try? ConnectionString(random.mutate(Sample.connection)) else { continue }
            let again =
                "Endpoint=\(connection.scheme)://\(connection.endpoint)/;SharedAccessKeyName=\(connection.keyName)"
                + ";SharedAccessKey=\(connection.key.reveal())"
            let second = try? ConnectionString(again)
            #expect(second?.endpoint == connection.endpoint)
            #expect(second?.key == connection.key)
        }
    }
}
