// SPDX-License-Identifier: Apache-2.0
import AppBackend
import NotificationHub
import Support
import Testing
import WebPush

@testable import Server

/// Each key of the configuration: its default, and what setting it changes.
struct ConfigurationValueTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let key: String
        let byDefault: String
        /// Members of the file that set it, with what they need.
        let members: String
        let set: String
        let read: @Sendable (SiteConfiguration) -> String

        init(
            _ key: String, _ byDefault: String, _ members: String, _ set: String,
            _ read: @escaping @Sendable (SiteConfiguration) -> String
        ) {
            (self.key, self.byDefault, self.members, self.set, self.read) = (key, byDefault, members, set, read)
        }

        var testDescription: String { key }
    }

    private static func methods(_ configuration: SiteConfiguration) -> String {
        configuration.authenticationMethods.map(\.rawValue).joined(separator: ",")
    }

    private static let secret = "0123456789abcdef0123456789abcdef"
    private static let connection =
        #""hub.connectionString": "Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=\#(secret)""#
    private static let vapid = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    private static let vapidPublic =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
    private static let subject = #""webPush.subject": "mailto:push@example.com""#
    private static let policies =
        #"["SharedAccessKeyName=a;Rights=Send;PrimaryKey=\#(secret)", "SharedAccessKeyName=b;Rights=Listen;PrimaryKey=\#(secret)"]"#

    private static let origins = "https://app.example,http://localhost:3000"

    static let rows: [Row] =
        [
            Row("hub.connectionString", "none", connection, "hub.example") { $0.hub.connection?.endpoint ?? "none" },
            Row("hub.name", "app-backend", #""hub.name": "contoso""#, "contoso") { $0.hub.name },
            Row("hub.platforms", "apns,fcm,wns,browser", #""hub.platforms": ["WNS", "fcm"]"#, "wns,fcm") {
                $0.hub.platforms.map(\.rawValue).joined(separator: ",")
            },
            Row("hub.timeout", "10", #""hub.timeout": 20"#, "20") { "\($0.hub.timeout)" },
            Row("hub.caFile", "none", #""hub.caFile": "ca.pem""#, "ca.pem") { name(of: $0.hub.caFile) },
            Row("hub.proxy", "none", #""hub.proxy": "http://p.example:1""#, "http://p.example:1") {
                $0.hub.proxy ?? "none"
            },
            Row("localHub.serve", "false", #""localHub.serve": true, "localHub.key": "\#(secret)""#, "true") {
                "\($0.localHub.isServed)"
            },
            Row("localHub.keyName", "", #""localHub.keyName": "a", "localHub.key": "\#(secret)""#, "a") {
                keyNames($0)
            },
            Row("localHub.key", "", #""localHub.key": "\#(secret)""#, "DefaultFullSharedAccessSignature") {
                keyNames($0)
            },
            Row("localHub.keys", "", #""localHub.keys": \#(policies)"#, "a,b") { keyNames($0) },
            Row("localHub.hosts", "localhost", #""localHub.hosts": ["hub.example"]"#, "hub.example") {
                $0.localHub.hosts.joined(separator: ",")
            },
            Row("store.path", "/s", #""store.path": "/elsewhere""#, "/elsewhere") { $0.store.folder ?? "none" },
            Row("store.url", "/s", #""store.url": "postgresql://db.example/site""#, "none") {
                $0.store.folder ?? "none"
            },
            Row(
                "store.connections", "0", #""store.url": "postgresql://db.example/site", "store.connections": 4"#, "4"
            ) { if case .database(_, let connections) = $0.store { "\(connections)" } else { "0" } },
            Row("listen", "none", #""listen": "127.0.0.1:9000""#, "127.0.0.1:9000") { $0.listen ?? "none" },
            Row("listenToRemotePeers", "false", #""listen": "192.0.2.1:9000", "listenToRemotePeers": true"#, "true") {
                "\($0.allowsRemotePeers)"
            },
            Row("workers", "64", #""workers": 3"#, "3") { "\($0.workers)" },
            Row("auth.method", "password,token,session", #""auth.method": "test""#, "test,session") { methods($0) },
            Row("auth.methods", "password,token,session", #""auth.methods": ["Web-Server", "test"]"#, "web-server,test")
            {
                methods($0)
            },
            Row("auth.realm", "AppBackend", #""auth.realm": "Push""#, "Push") { $0.realm },
            Row("cors.origins", "", #""cors.origins": ["https://app.example", "http://localhost:3000"]"#, origins) {
                $0.foreignOrigins.joined(separator: ",")
            },
            Row("policy.tags", "*", #""policy.tags": ["news", " sport "]"#, "news,sport") {
                $0.policy.defaultTags.joined(separator: ",")
            },
            Row("policy.sendTo", "*", #""policy.sendTo": []"#, "") { $0.policy.defaultSendTo.joined(separator: ",") },
            Row("policy.secureOnly", "false", #""policy.secureOnly": true"#, "true") { "\($0.policy.isSecureOnly)" },
            Row(
                "secure.form", "silent", #""secure.form": "alert""#,
                "alert(text: \"\(SecureForm.defaultText)\", localizationKey: nil)"
            ) {
                "\($0.secureForm)"
            },
            Row(
                "secure.text", "silent", #""secure.form": "alert", "secure.text": "News""#,
                #"alert(text: "News", localizationKey: nil)"#
            ) {
                "\($0.secureForm)"
            },
            Row(
                "secure.locKey", "silent", #""secure.form": "alert", "secure.text": "News", "secure.locKey": "NEWS""#,
                #"alert(text: "News", localizationKey: Optional("NEWS"))"#
            ) { "\($0.secureForm)" },
            apns("key", "", "key"), apns("keyFile", #""apns.keyFile": "key.p8""#, "key"), apns("keyId", "", "key"),
            apns("teamId", "", "key"), apns("topic", "", "com.example.app") { $0.topic },
            apns("environment", #""apns.environment": "Sandbox""#, "sandbox") { $0.environment.rawValue },
            apns("certificateFile", #""apns.certificateFile": "both.pem""#, "certificate"),
            apns(
                "certificatePassword",
                #""apns.certificateFile": "encrypted.pem", "apns.certificatePassword": "password""#, "password"
            ) {
                if case .certificate(let certificate) = $0.credential {
                    certificate.password?.reveal() ?? "none"
                } else {
                    ""
                }
            },
            apns("endpoint", #""apns.endpoint": "https://a.example:8443""#, "https://a.example:8443/") {
                $0.calls.endpoint?.description ?? "none"
            },
            apns("caFile", #""apns.caFile": "ca.pem""#, "ca.pem") { name(of: $0.calls.caFile) },
            apns("timeout", #""apns.timeout": 20"#, "20") { "\($0.calls.timeout)" },
            fcm("credential", "", "p") { $0.credential.projectID },
            Row("fcm.credentialFile", "none", #""fcm.credentialFile": "google.json""#, "p") {
                $0.fcm.first?.credential.projectID ?? "none"
            },
            fcm("endpoint", #", "fcm.endpoint": "https://f.example""#, "https://f.example/") {
                $0.calls.endpoint?.description ?? "none"
            },
            fcm("caFile", #", "fcm.caFile": "ca.pem""#, "ca.pem") { name(of: $0.calls.caFile) },
            fcm("timeout", #", "fcm.timeout": 5"#, "5") { "\($0.calls.timeout)" },
            wns("packageSid", #""wns.packageSid": "ms-app://s-1-15-2-1""#, "true") { _ in "true" },
            wns("clientId", #""wns.clientId": "c", "wns.tenant": "t""#, "true") { _ in "true" },
            wns("tenant", #""wns.clientId": "c", "wns.tenant": "t""#, "true") { _ in "true" },
            wns("secret", package, "true") { _ in "true" },
            wns("secretExpires", package + #", "wns.secretExpires": "2027-12-31""#, "1830211200") {
                $0.state?.end.map { "\($0)" } ?? "none"
            },
            wns(
                "tokenEndpoint", package + #", "wns.tokenEndpoint": "https://t.example/a.srf""#,
                "https://t.example/a.srf"
            ) {
                $0.tokenEndpoint?.description ?? "none"
            },
            wns("endpoint", package + #", "wns.endpoint": "https://w.example""#, "https://w.example/") {
                $0.calls.endpoint?.description ?? "none"
            },
            wns("caFile", package + #", "wns.caFile": "ca.pem""#, "ca.pem") { name(of: $0.calls.caFile) },
            wns("timeout", package + #", "wns.timeout": 120"#, "120") { "\($0.calls.timeout)" },
            Row("session.hours", "168", #""session.hours": 1"#, "1") { "\($0.sessionHours)" },
            Row("notifications.retentionDays", "30", #""notifications.retentionDays": 7"#, "7") {
                "\($0.retentionDays)"
            },
            Row("inbox.plainDays", "0", #""inbox.plainDays": 7"#, "7") { "\($0.plainDays)" },
            Row("inbox.badges", "false", #""inbox.badges": true, "inbox.plainDays": 7"#, "true") {
                "\($0.countsBadges)"
            },
            Row("inbox.silentSync", "false", #""inbox.silentSync": true"#, "true") { "\($0.syncsInbox)" },
            Row("limits.bodyBytes", "65536", #""limits.bodyBytes": 2048"#, "2048") { "\($0.bodyBytes)" },
            Row("limits.drainSeconds", "25", #""limits.drainSeconds": 0"#, "0") { "\($0.drainSeconds)" },
            Row("limits.sendsPerMinute", "300", #""limits.sendsPerMinute": 0"#, "0") {
                "\($0.userLimits.sends.perMinute)"
            },
            Row("limits.sendsAtOnce", "600", #""limits.sendsAtOnce": 1"#, "1") { "\($0.userLimits.sends.atOnce)" },
            Row("limits.registrationsPerMinute", "120", #""limits.registrationsPerMinute": 2"#, "2") {
                "\($0.userLimits.registrations.perMinute)"
            },
            Row("limits.registrationsAtOnce", "300", #""limits.registrationsAtOnce": 3"#, "3") {
                "\($0.userLimits.registrations.atOnce)"
            },
            Row("limits.listsPerMinute", "600", #""limits.listsPerMinute": 4"#, "4") {
                "\($0.userLimits.lists.perMinute)"
            },
            Row("limits.listsAtOnce", "600", #""limits.listsAtOnce": 5"#, "5") { "\($0.userLimits.lists.atOnce)" },
            Row("limits.bytesUnderWay", "8388608", #""limits.bytesUnderWay": 6"#, "6") {
                "\($0.userLimits.bytesUnderWay)"
            },
            Row("log.level", "info", #""log.level": "Debug""#, "debug") { "\($0.logLevel)" },
            Row("webPush.privateKey", "a file", #""webPush.privateKey": "\#(vapid)", \#(subject)"#, vapidPublic) {
                if case .configuration(let key) = $0.webPush.key { key.publicKey } else { "a file" }
            },
            Row("webPush.privateKeyFile", "none", #""webPush.privateKeyFile": "push.key""#, "push.key") {
                if case .file(let path) = $0.webPush.key { name(of: path) } else { "no file" }
            },
            Row("webPush.formerPrivateKey", "none", #""webPush.formerPrivateKey": "\#(vapid)""#, vapidPublic) {
                $0.webPush.formerKey?.publicKey ?? "none"
            },
            Row("webPush.subject", "none", subject, "mailto:push@example.com") {
                $0.webPush.subject.map { "\($0)" } ?? "none"
            },
            Row("webPush.hosts", "false", #""webPush.hosts": ["push.example.com"]"#, "true") {
                "\($0.webPush.hosts.exampleNames == ["push.example.com"])"
            },
            Row("webPush.privateHosts", "", #""webPush.privateHosts": ["push.internal:8443"]"#, "push.internal:8443") {
                $0.webPush.hosts.privateAuthorities.joined(separator: ",")
            },
            Row("webPush.caFile", "none", #""webPush.caFile": "ca.pem""#, "ca.pem") { name(of: $0.webPush.caFile) },
            Row(
                "webPush.proxy", "none", #""webPush.proxy": "socks5h://me:it@p.example:1""#,
                "socks5h://me:it@p.example:1"
            ) {
                $0.webPush.proxy ?? "none"
            },
            Row("webPush.ttl", "86400", #""webPush.ttl": 0"#, "0") { "\($0.webPush.timeToLive)" },
            Row("webPush.timeout", "10", #""webPush.timeout": 1"#, "1") { "\($0.webPush.timeout)" },
            Row("webPush.publicKey", "none", #"\#(connection), "webPush.publicKey": "\#(vapidPublic)""#, vapidPublic) {
                $0.webPush.publicKey ?? "none"
            },
        ] + accessRows

    private static let package = #""wns.packageSid": "ms-app://s-1-15-2-1""#

    private static func apns(
        _ key: String, _ members: String, _ set: String,
        _ read: @escaping @Sendable (SiteConfiguration.APNsApp) -> String = {
            if case .key = $0.credential { "key" } else { "certificate" }
        }
    ) -> Row {
        var members = [members, #""apns.topic": "com.example.app""#].filter { !$0.isEmpty }
        if !members.joined().contains("certificateFile") {
            members.append(#""apns.keyId": "KEYID12345", "apns.teamId": "TEAM123456""#)
            if key != "keyFile" {
                members.append(#""apns.key": "\#(TestCredentials.appleKey.replacing("\n", with: "\\n"))""#)
            }
        }
        return Row("apns.\(key)", "none", members.joined(separator: ", "), set) { $0.apns.first.map(read) ?? "none" }
    }

    private static func fcm(
        _ key: String, _ members: String, _ set: String,
        _ read: @escaping @Sendable (SiteConfiguration.FCMProject) -> String
    ) -> Row {
        Row(
            "fcm.\(key)", "none", #""fcm.credential": "{\"type\":\"metadata_server\",\"project_id\":\"p\"}""# + members,
            set
        ) {
            $0.fcm.first.map(read) ?? "none"
        }
    }

    private static func wns(
        _ key: String, _ members: String, _ set: String,
        _ read: @escaping @Sendable (SiteConfiguration.WNSApp) -> String
    ) -> Row {
        Row("wns.\(key)", "none", members + #", "wns.secret": "wns-secret""#, set) { $0.wns.first.map(read) ?? "none" }
    }

    static func name(of path: String?) -> String {
        path.map { String($0.split(separator: "/").last ?? "") } ?? "none"
    }

    private static func keyNames(_ configuration: SiteConfiguration) -> String {
        configuration.localHub.keys.map(\.name).joined(separator: ",")
    }

    @Test func `every key is looked at here`() {
        #expect(Set(Self.rows.map(\.key)) == SiteConfiguration.knownKeys)
    }

    @Test(arguments: rows)
    func `a key has its default until it is set`(row: Row) throws {
        let plain = try WrittenConfiguration(#"{ "store.path": "/s" }"#)
        #expect(plain.faults.isEmpty && plain.configuration.map(row.read) == row.byDefault)
        let path = row.members.hasPrefix(#""store."#) ? "" : #""store.path": "/s", "#
        let written = try WrittenConfiguration(
            "{ \(path)\(row.members) }",
            files: [
                "ca.pem": "-----BEGIN CERTIFICATE-----\n", "key.p8": TestCredentials.appleKey,
                "google.json": TestCredentials.google, "keys.json": TestCredentials.keySet,
                "both.pem": TestCredentials.certificate + TestCredentials.certificateKey,
                "hook": Self.webhookSecret + "\n",
                "encrypted.pem": TestCredentials.certificate + TestCredentials.encryptedKey,
            ])
        #expect(written.faults.isEmpty && written.configuration.map(row.read) == row.set, "\(written.faults)")
    }

    @Test func `a path that is relative begins at the file's folder`() throws {
        let written = try WrittenConfiguration(#"{ "store": { "path": "state" } }"#)
        #expect(written.configuration?.store.folder == written.folder.path("state"))
    }

    @Test func `the hub has the name of the connection string's EntityPath unless it has another`() throws {
        let whole = Self.connection.dropLast() + #";EntityPath=ofString""#
        let one = try WrittenConfiguration(#"{ "store.path": "/s", \#(whole) }"#)
        #expect(one.configuration?.hub.name == "ofString")
        let other = try WrittenConfiguration(#"{ "store.path": "/s", \#(whole), "hub.name": "own" }"#)
        #expect(other.configuration?.hub.name == "own")
    }
}
