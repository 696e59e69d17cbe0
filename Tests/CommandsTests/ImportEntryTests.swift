// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import DeviceAPI
import Foundation
import JSON
import Testing

@testable import Commands

/// What is read of the lists of other services.
struct ImportEntryTests {
    /// The records of a file.
    private func entries(
        _ text: String, maps: [String] = [], sets: [String] = []
    ) throws -> [Result<ImportEntry, any Error>] {
        let path = FileManager.default.temporaryDirectory.appending(path: "import-\(UUID().uuidString)").path
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let mapping = try ImportMapping(maps: maps, sets: sets)
        var found: [Result<ImportEntry, any Error>] = []
        try ImportFile(path, nil).forEachRecord(checkColumns: mapping.check) { record in
            found.append(Result { try ImportEntry(record.fields.get(), mapping) })
        }
        return found
    }

    private func described(_ entry: Result<ImportEntry, any Error>) -> String {
        switch entry {
        case .success(let entry):
            let device = entry.device.map { device in
                ([device.platform, device.handle] + device.tags
                    + [device.keys.map { "\($0.p256dh)/\($0.auth)" }, device.app].compactMap(\.self))
                    .joined(separator: " ")
            }
            return [
                entry.user, device, entry.installation.map { "id \($0)" },
                entry.skipsDevice.map { "skips: \($0.rawValue)" },
                entry.passwordHash.map { "hash \($0)" }, entry.hasForeignHash ? "foreign" : nil,
                entry.isDisabled ? "disabled" : nil,
            ].compactMap(\.self).joined(separator: ", ")
        case .failure(let skip as ImportSkip): return "skipped: \(skip.rawValue)"
        case .failure(let fault as ImportFault): return "wrong: \(fault.reason)"
        case .failure(let error): return "\(error)"
        }
    }

    @Test func `a hash of absurd cost is a fault of its line, and a hash of another kind is left out`() throws {
        let columns = "user,password-hash\n"
        for (hash, told) in [
            ("$2b$12$CCCC", "alice, hash $2b$12$CCCC"), ("$2b$30$CCCC", "wrong: \(PasswordHash.tooCostly)"),
            ("{SSHA}x", "alice, foreign"),
        ] {
            #expect(try entries(columns + "alice,\(hash)\n").map(described) == [told])
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        var maps: [String] = []
        var sets: [String] = []
        let entries: [String]

        var testDescription: String { name }
    }

    private static let cases = [
        Case(
            name: "a table of one's own",
            text: """
                user,platform,token,tags,app
                alice,ios,AB,"news, sport",
                bob,Android,x,{news;sport},chat
                carol,,,,
                dave,2,y,"[""a""]",
                erin,3,z,,

                """,
            entries: [
                "alice, apns AB news sport", "bob, fcm x news sport chat", "carol", "dave, fcm y a",
                "erin, skips: \(ImportSkip.otherPlatform.rawValue)",
            ]),
        Case(
            name: "OneSignal",
            text: #"""
                id,identifier,session_count,device_type,tags,invalid_identifier,external_user_id
                p1,AB,3,0,"{""level"":""3"",""empty"":""""}",f,alice
                p2,x,3,1,{},true,alice
                p3,https://a,1,5,{},f,bob
                p4,a@b.c,1,11,{},f,bob
                p5,y,1,1,{},f,
                p6,z,1,1,{},maybe,eve

                """#,
            entries: [
                "alice, apns AB level:3", "alice, skips: \(ImportSkip.invalidToken.rawValue)",
                "bob, skips: \(ImportSkip.browser.rawValue)", "bob, skips: \(ImportSkip.otherPlatform.rawValue)",
                "skipped: no user", "wrong: invalid must be true or false",
            ]),
        Case(
            name: "Firebase's users",
            text: """
                {"users": [
                {
                  "localId": "aB3", "email": "a@b.c", "passwordHash": "Zm9v", "salt": "YmFy", "providerUserInfo": []
                },
                { "localId": "x", "disabled": true }]}
                """,
            entries: ["aB3, foreign", "x, disabled"]),
        Case(
            name: "Parse's installations, by its API",
            text: #"""
                {"results":[{"deviceType":"ios","deviceToken":"AB","installationId":"i-1","channels":["news"],
                 "user":{"__type":"Pointer","className":"_User","objectId":"u1"},"badge":0}]}
                """#,
            entries: ["u1, apns AB news, id i-1"]),
        Case(
            name: "Parse's collections, by mongoexport",
            text: #"""
                {"_id":"a","deviceType":"android","deviceToken":"x","_p_user":"_User$u1","channels":null}
                {"_id":"u1","username":"alice","_hashed_password":"$2b$10$abc"}
                {"_id":
                [1]
                {"user":["a"]}
                """#,
            entries: [
                "u1, fcm x", "alice, hash $2b$10$abc", "wrong: not a JSON object: unexpected end at byte 7",
                "wrong: not a JSON object", "wrong: user is an array, not a text",
            ]),
        Case(
            name: "subscriptions of browsers",
            text: #"""
                {"user":"alice","endpoint":"https://p.example/1","keys":{"p256dh":"P","auth":"A"}}
                {"user":"bob","endpoint":"https://p.example/2"}
                """#,
            entries: ["alice, browser https://p.example/1 P/A", "wrong: a push token without a platform"]),
        Case(
            name: "columns and values that options name",
            text: "mail,fcm,tags,kind\na@b.c,x,not legal!,ios\n", maps: ["user=mail", "token=fcm", "tags="],
            sets: ["platform=fcm", "app=chat"], entries: ["a@b.c, fcm x chat"]),
        Case(
            name: "a row that is too short, and a platform that is unknown",
            text: "User,Platform,Handle\nalice,apns\nbob,nokia,x\n",
            entries: [
                "wrong: the row has 2 fields, and the first row has 3",
                "wrong: the platform must be one of apns, fcm, wns, mpns, browser, or ios, android, windows, web",
            ]),
    ]

    @Test(arguments: cases)
    func `the lists of other services are read by the names of their columns`(test: Case) throws {
        let found = try entries(test.text, maps: test.maps, sets: test.sets).map(described)
        #expect(found == test.entries)
    }

    @Test func `Azure's export is read with its tags, and the user is in one of them`() throws {
        func line(_ stem: String, _ members: String) -> String {
            "<\(stem)RegistrationDescription xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" "
                + "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\">\(members)"
                + "</\(stem)RegistrationDescription>\n"
        }
        let text =
            line(
                "Apple",
                "<ETag>1</ETag><RegistrationId>1-2-3</RegistrationId><Tags>news,username:alice,$InstallationId:{i}</Tags>"
                    + "<DeviceToken>AB</DeviceToken>")
            + line("FcmV1", "<Tags>news</Tags><FcmV1RegistrationId>x</FcmV1RegistrationId>")
            + line("Apple", "<Tags>username:a</Tags><DeviceToken>zz</DeviceToken>") + "<a>\n"
        #expect(
            try entries(text).map(described) == [
                "alice, apns AB news, id 1-2-3", "skipped: no user",
                "wrong: an APNs token is an even number of hexadecimal digits",
                "wrong: not a registration of Azure's: notXML",
            ])
    }

    @Test(arguments: [
        "alice,ios,AB\n", "user,token\nalice,AB\n", "user,user,token,platform\n", "", "user\0,a\n", "\"user\n",
    ])
    func `a file of whose columns no import can be made is refused, without a word of it`(text: String) throws {
        let error = #expect(throws: CommandError.self) { try entries(text) }
        #expect(error?.description.contains("alice") == false)
    }

    @Test(arguments: [["user"], ["name=x"], ["=x"]])
    func `an option that names no field is refused`(maps: [String]) {
        #expect(throws: ValidationError.self) { try ImportMapping(maps: maps, sets: []) }
        #expect(throws: ValidationError.self) { try ImportMapping(maps: [], sets: maps) }
    }
}
