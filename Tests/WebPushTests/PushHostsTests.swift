// SPDX-License-Identifier: Apache-2.0
import Support
import Testing
import Text

@testable import WebPush

@Suite struct `The hosts that may be pushed to` {
    private func allows(_ hosts: PushHosts, _ text: String) -> Bool {
        Authority(text).map { hosts.allow($0) } ?? false
    }

    @Test(arguments: [
        "fcm.googleapis.com", "FCM.GoogleAPIs.com", "fcm.googleapis.com:443", "jmt17.google.com",
        "updates.push.services.mozilla.com", "web.push.apple.com", "a.b.push.apple.com",
        "wns2-par02p.notify.windows.com", "WNS2-PAR02P.NOTIFY.WINDOWS.COM",
    ])
    func `are the vendors'`(text: String) throws {
        #expect(allows(try PushHosts(), text))
    }

    @Test(arguments: [
        "example.com", "localhost", "127.0.0.1", "[::1]", "2130706433", "0x7f.1", "127.1", "169.254.169.254",
        "fcm.googleapis.com.", "fcm.googleapis.com:8443", "fcm.googleapis.com:80", "xfcm.googleapis.com",
        "fcm.googleapis.com.example.com", "googleapis.com", "notify.windows.com", "evilnotify.windows.com",
        ".notify.windows.com", "a..notify.windows.com", "-.notify.windows.com.example.com", "web.push.apple.com.",
        "web.push.apple.com:444", "push.services.mozilla.com", "a.push.services.mozilla.com.evil.example",
    ])
    func `are no others`(text: String) throws {
        #expect(!allows(try PushHosts(), text))
    }

    @Test func `are those that the operator names, and then only those`() throws {
        let hosts = try PushHosts(["push.example.com", "*.Push.Example.net"], privateHosts: [])
        #expect(allows(hosts, "push.example.com") && allows(hosts, "a.push.example.net"))
        #expect(!allows(hosts, "fcm.googleapis.com") && !allows(hosts, "push.example.net"))
    }

    @Test func `are those that the operator adds to the vendors'`() throws {
        let hosts = try PushHosts(["vendors", "ntfy.example.com"])
        #expect(allows(hosts, "ntfy.example.com") && allows(hosts, "fcm.googleapis.com"))
        #expect(allows(hosts, "web.push.apple.com") && !allows(hosts, "ntfy.example.net"))
    }

    @Test func `are any names, where the operator says so, and still no addresses`() throws {
        let hosts = try PushHosts(["*"])
        #expect(allows(hosts, "ntfy.example.com") && allows(hosts, "fcm.googleapis.com"))
        for text in [
            "localhost", "127.0.0.1", "[::1]", "2130706433", "0x7f.1", "127.1", "ntfy.example.com:8443", "example.com.",
            "removed.invalid", "printer.local", "a.test", "a.example", "a.localhost", "nas.lan", "a.internal",
            "a.home.arpa", "a.onion", "a.alt",
        ] {
            #expect(!allows(hosts, text))
        }
    }

    @Test func `are private ones exactly as they are named`() throws {
        let hosts = try PushHosts([], privateHosts: ["LocalHost:9446", "127.0.0.1:9447", "[::1]:9448", "push.lan:443"])
        #expect(hosts.privateAuthorities == ["localhost:9446", "127.0.0.1:9447", "[::1]:9448", "push.lan:443"])
        for text in ["localhost:9446", "127.0.0.1:9447", "[::1]:9448", "push.lan", "push.lan:443"] {
            #expect(allows(hosts, text))
        }
        for text in [
            "localhost", "localhost:9447", "127.0.0.1:9446", "127.1:9447", "2130706433:9447", "localhost.:9446",
            "[0:0::1]:9448", "a.push.lan", "[::ffff:127.0.0.1]:9447",
        ] {
            #expect(!allows(hosts, text))
        }
    }

    @Test(arguments: [
        "", "**", "*.", "*.com", "*.*.com", "a.*.com", "*example.com", "example.com:443", "https://example.com",
        "example.com/", "a b", "user@example.com", "example.com.", "127.0.0.1", "[::1]", "*.1.2", "2130706433", "a..b",
    ])
    func `are not named so`(entry: String) {
        #expect {
            try PushHosts([entry])
        } throws: {
            ($0 as? PushHosts.BadEntry)?.entry == entry
        }
    }

    @Test(arguments: ["", "localhost", "localhost:", "localhost:0", "localhost:65536", "*.lan:443", "::1:443", "a b:1"])
    func `are, as private ones, host and port`(entry: String) {
        #expect(throws: PushHosts.BadEntry.self) { try PushHosts(privateHosts: [entry]) }
    }

    @Test func `never are something else with a vendor's name in it`() throws {
        let hosts = try PushHosts()
        let vendors = ["fcm.googleapis.com", "web.push.apple.com", "wns2-par02p.notify.windows.com"]
        var random = SeededRandom(seed: 443)
        let characters = Array("abcz019.-_:[]@/%?#\\ \u{0}".unicodeScalars)
        for _ in 0..<5_000 {
            let vendor = vendors.randomElement(using: &random) ?? ""
            let junk = String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in
                        characters.randomElement(using: &random)
                    }))
            guard let authority = Authority(vendor + junk), hosts.allow(authority) else { continue }
            Issue.record("\(authority) is allowed")
        }
    }
}
