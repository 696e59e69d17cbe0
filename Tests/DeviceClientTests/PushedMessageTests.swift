// SPDX-License-Identifier: Apache-2.0
import DeviceClient
import Testing

struct PushedMessageTests {
    private static let id = "Zk0V7yq1T3e9uJc2LxWn4A"

    @Test func `a plain message brings the names for its opening and for the inbox`() {
        let pushed = PushedMessage(userInfo: ["aps": ["alert": "a"], "messageId": Self.id, "inboxId": "1407385622"])
        #expect(pushed.messageID == Self.id && pushed.inboxID == 1_407_385_622 && pushed.secure == nil)
    }

    @Test func `a secure message is opened by its token, and is in the inbox by its id`() {
        let pushed = PushedMessage(userInfo: ["secureId": "7", "secureToken": Self.id, "messageId": "other"])
        #expect(pushed.messageID == Self.id && pushed.inboxID == 7)
        #expect(pushed.secure == SecureReference(id: 7, token: Self.id))
    }

    @Test(arguments: ["../../health", "", "a b", String(repeating: "a", count: 129)])
    func `what is no name names no message`(text: String) {
        let pushed = PushedMessage(userInfo: ["messageId": text, "inboxId": text])
        #expect(pushed.messageID == nil && pushed.inboxID == nil && pushed.secure == nil)
    }

    @Test(arguments: ["0", "-1", "2147483648", "7x"])
    func `an id of the inbox is a positive number`(text: String) {
        #expect(PushedMessage(userInfo: ["inboxId": text]).inboxID == nil)
    }

    @Test func `a push of another backend has no names`() {
        let pushed = PushedMessage(userInfo: ["aps": 1, "messageId": 7, 3: "x"])
        #expect(pushed.messageID == nil && pushed.inboxID == nil && pushed.secure == nil)
    }
}
