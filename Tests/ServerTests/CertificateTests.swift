// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Server

/// What the configuration finds in the client certificate of an app.
struct CertificateTests {
    private static let end: Int64 = 4_948_978_177
    private static let day: Int64 = 86_400

    private func read(_ file: String, password: String? = nil, topic: String = "com.example.app") throws
        -> WrittenConfiguration
    {
        let password = password.map { #", "certificatePassword": "\#($0)""# } ?? ""
        return try WrittenConfiguration(
            #"{ "store.path": "/s", "apns": { "certificateFile": "app.pem", "topic": "\#(topic)"\#(password) } }"#,
            files: ["app.pem": file])
    }

    private func state(_ file: String, topic: String = "com.example.app") throws -> CredentialState {
        let written = try read(file, topic: topic)
        #expect(written.faults.isEmpty)
        return try #require(written.configuration?.credentialStates.first)
    }

    @Test func `its end is known`() throws {
        let state = try state(TestCredentials.certificate + TestCredentials.certificateKey)
        #expect(state.key == "apns.certificateFile" && state.end == Self.end)
        #expect(CredentialState.day(Self.end) == "2126-10-29")
    }

    @Test func `its end is warned of for thirty days, and is a fault from then on`() {
        let state = CredentialState(key: "apns.certificateFile", end: Self.end)
        let notice = CredentialState.noticeDays * Self.day
        #expect(state.warning(Self.end - notice) == nil && state.fault(Self.end - notice) == nil)
        #expect(state.warning(Self.end - notice + 1)?.reason == "ends on 2126-10-29, in 29 days; renew it")
        #expect(state.warning(Self.end - 1)?.reason.contains("in 0 days") == true && state.fault(Self.end - 1) == nil)
        #expect(state.warning(Self.end) == nil && state.fault(Self.end)?.key == "apns.certificateFile")
    }

    @Test func `a credential that does not end is never warned of`() {
        let state = CredentialState(key: "wns.secret", end: nil)
        #expect(state.fault(.max) == nil && state.warning(.max) == nil)
    }

    private static let faults: [(file: String, password: String?, key: String)] = [
        (TestCredentials.certificate, nil, "apns.certificateFile"),
        (TestCredentials.certificateKey, nil, "apns.certificateFile"),
        ("{}", nil, "apns.certificateFile"),
        (TestCredentials.certificate + TestCredentials.appleKey, nil, "apns.certificateFile"),
        (TestCredentials.certificate + TestCredentials.encryptedKey, nil, "apns.certificatePassword"),
        (TestCredentials.certificate + TestCredentials.encryptedKey, "short-secret", "apns.certificatePassword"),
    ]

    @Test(arguments: faults)
    func `one that no connection could show is a fault of the file or of its password`(
        row: (file: String, password: String?, key: String)
    ) throws {
        let faults = try read(row.file, password: row.password).faults
        #expect(faults.map(\.key) == [row.key])
        #expect(faults.allSatisfy { $0.isOfApp && !$0.description.contains("short-secret") })
    }

    private static let topics: [(topic: String, isListed: Bool)] = [
        ("com.example.app", true), ("com.example.app.voip", true), ("com.example.ap", false),
        ("com.example.other", false),
    ]

    @Test(arguments: topics)
    func `where it lists topics, the app's is among them`(row: (topic: String, isListed: Bool)) throws {
        let fault = try state(TestCredentials.listingCertificate, topic: row.topic).fault(0)
        #expect((fault == nil) == row.isListed)
        if let fault { #expect(fault.reason.contains(row.topic)) }
    }
}
