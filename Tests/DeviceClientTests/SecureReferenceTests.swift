// SPDX-License-Identifier: Apache-2.0
import DeviceClient
import Testing

struct SecureReferenceTests {
    private static let token = "AAAAAAAAAAAAAAAAAAAA-_"

    @Test(
        arguments: [
            (#"{"aps":{"content-available":1},"secureId":"7"}"#, 7, nil),
            (#"{"secureId":"2147483646","secureToken":"AAAAAAAAAAAAAAAAAAAA-_"}"#, 2_147_483_646, token),
            (#"{"secureId":7,"secureToken":"../../health"}"#, 7, nil),
            (#"{"secureId":"7","secureToken":17}"#, 7, nil),
        ] as [(String, Int32, String?)])
    func `a payload names a message`(json: String, id: Int32, token: String?) throws {
        let reference = try #require(SecureReference(payload: json.utf8))
        #expect(reference.id == id)
        #expect(reference.token == token)
    }

    @Test(arguments: [
        "", "null", "[]", "{", #"{"aps":{"alert":"hello"}}"#, #"{"secureId":"0"}"#, #"{"secureId":"-1"}"#,
        #"{"secureId":"2147483647"}"#, #"{"secureId":"99999999999"}"#, #"{"secureId":"7x"}"#, #"{"secureId":null}"#,
        #"{"secureId":1.5}"#,
    ])
    func `any other payload names none`(json: String) {
        #expect(SecureReference(payload: json.utf8) == nil)
    }

    @Test func `a dictionary of the push names a message too`() throws {
        let push: [AnyHashable: Any] = [
            "aps": ["content-available": 1], "secureId": "7", "secureToken": Self.token,
        ]
        #expect(SecureReference(userInfo: push) == SecureReference(id: 7, token: Self.token))
        #expect(SecureReference(userInfo: ["secureId": 7]) == SecureReference(id: 7))
        #expect(SecureReference(userInfo: ["secureId": "junk"]) == nil)
        #expect(SecureReference(userInfo: ["aps": ["alert": "hello"]]) == nil)
    }

    @Test func `the body of a raw notification is the id`() {
        #expect(SecureReference(rawBody: "7") == SecureReference(id: 7))
        #expect(SecureReference(rawBody: " 7") == nil)
        #expect(SecureReference(rawBody: "") == nil)
    }
}
