// SPDX-License-Identifier: Apache-2.0
@testable import Server

/// The keys of telephones' credentials.
extension ConfigurationValueTests {
    static let appRows: [Row] = [
        apns("key", apple["apns.key"], "key"), apns("keyFile", #""key.p8""#, "key", with: appleNames),
        apns("keyId", apple["apns.keyId"], "key"), apns("teamId", apple["apns.teamId"], "key"),
        apns("topic", apple["apns.topic"], "com.example.app") { $0.topic },
        apns("environment", #""Sandbox""#, "sandbox") { $0.environment.rawValue },
        apns("certificateFile", #""both.pem""#, "certificate", with: encrypted),
        apns("certificatePassword", #""password""#, "password", with: encrypted) {
            if case .certificate(let certificate) = $0.credential { certificate.password?.reveal() ?? "" } else { "" }
        },
        apns("endpoint", #""https://a.example:8443""#, "https://a.example:8443/") {
            $0.calls.endpoint?.description ?? "none"
        },
        apns("caFile", #""ca.pem""#, "ca.pem") { name(of: $0.calls.caFile) },
        apns("timeout", "20", "20") { "\($0.calls.timeout)" },
        fcm("credential", google["fcm.credential"], "p") { $0.credential.projectID },
        fcm("credentialFile", #""google.json""#, "p", with: [:]) { $0.credential.projectID },
        fcm("endpoint", #""https://f.example""#, "https://f.example/") { $0.calls.endpoint?.description ?? "none" },
        fcm("caFile", #""ca.pem""#, "ca.pem") { name(of: $0.calls.caFile) },
        fcm("timeout", "5", "5") { "\($0.calls.timeout)" },
        wns("packageSid", package["wns.packageSid"], "true") { _ in "true" },
        wns("clientId", entra["wns.clientId"], "true", with: entra) { _ in "true" },
        wns("tenant", entra["wns.tenant"], "true", with: entra) { _ in "true" },
        wns("secret", package["wns.secret"], "true") { _ in "true" },
        wns("secretExpires", #""2027-12-31""#, "1830211200") {
            $0.state?.end.map { "\($0)" } ?? "none"
        },
        wns("tokenEndpoint", #""https://t.example/a.srf""#, "https://t.example/a.srf") {
            $0.tokenEndpoint?.description ?? "none"
        },
        wns("endpoint", #""https://w.example""#, "https://w.example/") { $0.calls.endpoint?.description ?? "none" },
        wns("caFile", #""ca.pem""#, "ca.pem") { name(of: $0.calls.caFile) },
        wns("timeout", "120", "120") { "\($0.calls.timeout)" },
    ]

    /// Without a key or a certificate.
    private static let appleNames = [
        "apns.topic": #""com.example.app""#, "apns.keyId": #""KEYID12345""#, "apns.teamId": #""TEAM123456""#,
    ]
    private static let apple = appleNames.merging(
        ["apns.key": "\"\(TestCredentials.appleKey.replacing("\n", with: "\\n"))\""]
    ) { one, _ in one }
    private static let encrypted = [
        "apns.topic": #""com.example.app""#, "apns.certificateFile": #""encrypted.pem""#,
    ]
    private static let google = ["fcm.credential": #""{\"type\":\"metadata_server\",\"project_id\":\"p\"}""#]
    private static let package = [
        "wns.packageSid": #""ms-app://s-1-15-2-1""#, "wns.secret": #""wns-secret""#,
    ]
    private static let entra = [
        "wns.clientId": #""c""#, "wns.tenant": #""t""#, "wns.secret": #""wns-secret""#,
    ]

    private static func apns(
        _ key: String, _ value: String?, _ set: String, with others: [String: String] = apple,
        _ read: @escaping @Sendable (SiteConfiguration.APNsApp) -> String = {
            if case .key = $0.credential { "key" } else { "certificate" }
        }
    ) -> Row {
        Row("apns.\(key)", "none", value ?? "", set, with: others) { $0.apns.first.map(read) ?? "none" }
    }

    private static func fcm(
        _ key: String, _ value: String?, _ set: String, with others: [String: String] = google,
        _ read: @escaping @Sendable (SiteConfiguration.FCMProject) -> String
    ) -> Row {
        Row("fcm.\(key)", "none", value ?? "", set, with: others) { $0.fcm.first.map(read) ?? "none" }
    }

    private static func wns(
        _ key: String, _ value: String?, _ set: String, with others: [String: String] = package,
        _ read: @escaping @Sendable (SiteConfiguration.WNSApp) -> String
    ) -> Row {
        Row("wns.\(key)", "none", value ?? "", set, with: others) { $0.wns.first.map(read) ?? "none" }
    }
}
