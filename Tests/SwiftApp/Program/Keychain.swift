// SPDX-License-Identifier: Apache-2.0
import DeviceClient
import Foundation
import HTTPTypes
import Security

private let locked: Int32 = -25308

func checkKeychain() async {
    let storage = KeychainStorage(service: "push.example.com", accessGroup: "ABCDE12345.com.example.shared")
    await checkCredentials(storage)
    await checkIDs(storage)
    await check("a keychain that is locked is an error for credentials, and no id") {
        SecStandInAnswer(locked)
        defer { SecStandInAnswer(nil) }
        storage.setRegistrationID("lost")
        guard storage.registrationID() == nil else { return "an id" }
        do throws(KeychainStorage.Failure) {
            try storage.setCredentials(nil)
        } catch {
            guard error == .status(locked) else { return "\(error)" }
            do throws(KeychainStorage.Failure) {
                return "\(String(describing: try storage.credentials()))"
            } catch {
                return expect(error == .status(locked), "\(error)")
            }
        }
        return "forgotten"
    }
}

private func checkCredentials(_ storage: KeychainStorage) async {
    let none = try? await storage.credentials()?.authorization()
    await check("an empty keychain has no credentials") { expect(none == nil, "some") }
    await check("credentials come back as they were kept, each in the place of those before") {
        for credentials in [
            try Credentials(user: "alice", password: "wonder:\"länd\""), try Credentials(token: "abt_27c5_x-y="),
            try Credentials(user: "bob", password: ""),
        ] {
            try storage.setCredentials(credentials)
            guard let kept = try storage.credentials() else { return "none" }
            let (one, other) = (try await credentials.authorization(), try await kept.authorization())
            guard one == other, kept.user == credentials.user else { return "\(other) for \(one)" }
        }
        return nil
    }
    await check("a provider cannot be kept, and what was kept before stays") {
        do throws(KeychainStorage.Failure) {
            try storage.setCredentials(Credentials { _ in "token" })
        } catch {
            return expect(error == .notKeepable && (try? storage.credentials())??.user == "bob", "\(error)")
        }
        return "kept"
    }
    await check("forgotten credentials are gone, and may be forgotten again") {
        try storage.setCredentials(nil)
        try storage.setCredentials(nil)
        return expect(try storage.credentials() == nil, "some")
    }
    await check("bytes that are no credentials are not taken for any") {
        for text in ["", "{}", #"{"User":"alice"}"#, #"{"Token":"a b"}"#, #"{"User":"a:b","Password":"x"}"#] {
            guard Credentials(secretJSON: [UInt8](text.utf8)) == nil else { return text }
        }
        return nil
    }
}

private func checkIDs(_ storage: KeychainStorage) async {
    await check("an id is of its service and its access group") {
        storage.setRegistrationID("7")
        storage.setRegistrationID("8")
        let others = [
            KeychainStorage(service: "other.example.com", accessGroup: "ABCDE12345.com.example.shared"),
            KeychainStorage(service: "push.example.com", accessGroup: "ABCDE12345.com.example.other"),
        ]
        guard KeychainStorage(service: "push.example.com").registrationID() == "8" else { return "not of all groups" }
        guard storage.registrationID() == "8" else { return "\(storage.registrationID() ?? "none")" }
        return expect(others.allSatisfy { $0.registrationID() == nil }, "another's")
    }
    await check("an id and credentials do not meet") {
        try storage.setCredentials(Credentials(user: "alice", password: "x"))
        storage.setRegistrationID(nil)
        return expect(try storage.registrationID() == nil && storage.credentials()?.user == "alice", "they do")
    }
    await check("a registration keeps its id in the keychain, and log-out takes it away") {
        let client = RegisterClient(
            endpoint: try Endpoint("https://push.example.com"), credentials: try Credentials(token: "abt_1"),
            transport: Answering { $0.method == .post ? .json(Array(#""9""#.utf8)) : .init() }, storage: storage)
        try await client.register(handle: "A0", platform: .apns)
        guard storage.registrationID() == "9" else { return "no id" }
        try await client.unregister()
        return expect(storage.registrationID() == nil, "an id")
    }
}
