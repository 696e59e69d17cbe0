// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Testing

extension WireTests {
    /// The calls of the tutorial for .NET MAUI, through nginx as it is shipped.
    struct MAUIStories {
        @Test func `an app registers by key, is sent a request, and takes itself off; its key is in no log`() throws {
            let site = try sharedSite()
            let (alice, handle) = (try site.addUser("alice"), site.makeHandle())
            let key = try site.appToken(of: alice, scopes: "register,send")
            let installation =
                #"{"installationId":"E621E1F8","platform":"apns","pushChannel":"\#(handle)","tags":["\#(alice.name)"]}"#
            for _ in 1...2 {
                #expect(try site.call(.put, Path.installations, body: installation, fields: key).status == .ok)
            }
            let hub = try site.hubClient()
            let registration = try #require(try hub.registrations(channel: handle).first)
            #expect(registration.template == nil)
            #expect(registration.tagTexts == [alice.name, "username:\(alice.name)"])
            let list = try JSONValue(parsing: site.call(.get, Path.register, as: alice).body).array
            #expect(list?.map { $0["InstallationId"]?.string } == ["E621E1F8"])

            let text = site.secrets.make("Message from REST tooling! ")
            let answer = try site.call(
                .post, Path.requests, body: #"{"text":"\#(text)","action":"action_a"}"#, fields: key)
            #expect(answer.status == .ok)
            let id = try #require(try SendOutcome(answer).outcomes.first { $0.platform == "apns" }?.notificationID)
            let counts = try #require(try hub.details(id)).outcomes.flatMap(\.counts)
            #expect(counts.reduce(0) { $0 + $1.count } == 1)

            #expect(try site.call(.delete, Path.installations + "/E621E1F8", fields: key).status == .ok)
            #expect(try hub.registrations(channel: handle).isEmpty)
        }

        @Test func `a wrong key and a missing one are 401, and nginx hands a key to no other route`() throws {
            let site = try sharedSite()
            let key = try site.appToken(of: try site.addUser("alice"), scopes: "register,send,read")
            for fields in [HTTPFields(), HTTPFields(["apikey": "123-456"])] {
                #expect(try site.call(.delete, Path.installations + "/1", fields: fields).status == .unauthorized)
            }
            for path in [Path.register, Path.notifications, Path.inbox] {
                #expect(try site.call(.get, path, fields: key).status == .unauthorized)
            }
        }
    }
}

extension ServedSite {
    /// Makes an app token by the command.
    /// - Returns: it, as apps of the tutorial for .NET MAUI send it.
    func appToken(of user: WireUser, scopes: String) throws -> HTTPFields {
        let made = try run("user", "token", "add", user.name, "--scope", scopes)
        let token = made.output.trimmingCharacters(in: .newlines)
        #expect(made.status == 0 && !token.isEmpty)
        secrets.add(String(token.suffix(43)))
        return HTTPFields(["apikey": token])
    }
}
