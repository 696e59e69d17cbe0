// SPDX-License-Identifier: Apache-2.0
import DeviceClient
import Testing

struct EndpointTests {
    @Test(arguments: [
        ("https://push.example.com", "https://push.example.com"),
        ("HTTPS://Push.Example.com/", "https://push.example.com"),
        ("https://push.example.com:8443", "https://push.example.com:8443"),
        ("https://[2001:db8::1]:65535", "https://[2001:db8::1]:65535"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://127.0.0.1", "http://127.0.0.1"),
        ("http://[::1]:1/", "http://[::1]:1"),
        ("https://Example.com/Push", "https://example.com/Push"),
        ("https://example.com:8443/a/b-1/", "https://example.com:8443/a/b-1"),
    ])
    func `an origin is an endpoint`(text: String, printed: String) throws {
        #expect(try Endpoint(text).description == printed)
    }

    @Test(
        arguments: [
            ("http://push.example.com", .insecure), ("http://localhost.example.com", .insecure),
            ("http://127.0.0.1.example.com", .insecure),
            ("push.example.com", .unknownScheme), ("ftp://a", .unknownScheme), ("", .unknownScheme),
            ("://a", .unknownScheme),
            ("https://", .badAuthority), ("https:///", .badAuthority), ("https://:8443", .badAuthority),
            ("https://alice:secret@push.example.com", .badAuthority), ("https://a:0", .badAuthority),
            ("https://a:65536", .badAuthority), ("https://a:+1", .badAuthority), ("https://a:", .badAuthority),
            ("https://a b", .badAuthority), ("https://[::1", .badAuthority), ("https://[::1]x", .badAuthority),
            ("https://a\r\nHost: b", .badAuthority), ("https://ä.example", .badAuthority),
            ("https://a/api", .notAnOrigin), ("https://a?x", .notAnOrigin), ("https://a#x", .notAnOrigin),
            ("https://a//", .notAnOrigin), ("https://a/push/api", .notAnOrigin), ("https://a/b//c", .notAnOrigin),
            ("https://a/../b", .notAnOrigin), ("https://a/%62", .notAnOrigin), ("https://a/b?c", .notAnOrigin),
            ("https://a/b#c", .notAnOrigin),
        ] as [(String, Endpoint.Malformed)])
    func `anything else is refused`(text: String, why: Endpoint.Malformed) {
        #expect(throws: why) { try Endpoint(text) }
    }
}
