// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import DeviceClient
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// Which app a device is of, from its registration to the tag that the hub delivers by.
struct AppTests {
    private static let names = ["com.example.chat", "com.example.Mail"]

    private func site(_ apps: AppPolicy = AppPolicy([.apns: Self.names, .fcm: ["chat-1"]])) throws -> TestSite {
        try TestSite { $0.apps = apps }
    }

    private func put(
        _ site: TestSite, _ app: String?, tags: [String] = [], platform: String = "apns",
        handle: String = TestSite.token(1), id: String? = nil
    ) throws -> (response: Response, id: RegistrationID) {
        let text = try id ?? JSONValue(parsing: site.call(.post, "/api/register", as: "alice").body).string
        let id = try #require(text.flatMap { RegistrationID($0) })
        let body = DeviceRegistration(platform: platform, handle: handle, tags: tags, app: app).json
        let response = site.call(
            .put, "/api/register/\(id)", as: "alice", body: String(decoding: body, as: UTF8.self))
        return (response, id)
    }

    private func tags(_ site: TestSite, _ id: RegistrationID) throws -> [String] {
        try #require(try site.hubClient.registration(id)).tagTexts.sorted()
    }

    private func list(_ site: TestSite) -> String {
        String(decoding: site.call(.get, "/api/register", as: "alice").body, as: UTF8.self)
    }

    @Test(arguments: ["com.example.Mail", "COM.EXAMPLE.MAIL"])
    func `the app that a device names is a tag at the hub, which the list shows as App`(app: String) throws {
        let site = try site()
        let (response, id) = try put(site, app, tags: ["news"])
        #expect(response.status == .ok)
        #expect(try tags(site, id) == ["app:com.example.Mail", "news", "username:alice"])
        #expect(list(site).contains(#""Tags":["news"],"App":"com.example.Mail"}"#))
    }

    @Test func `a device that names none is registered and listed as ever`() throws {
        let site = try site()
        let (_, id) = try put(site, nil, tags: ["news"])
        #expect(try tags(site, id) == ["news", "username:alice"])
        #expect(
            list(site) == #"[{"RegistrationId":"\#(id)","Platform":"apns","Handle":"000001","Tags":["news"]}]"#)
    }

    static let strangers: [(platform: String, handle: String, app: String, detail: String)] = [
        ("apns", TestSite.token(1), "com.example.other", "com.example.chat, com.example.Mail"),
        ("apns", TestSite.token(1), "", "com.example.chat, com.example.Mail"),
        ("apns", TestSite.token(1), "chat-1", "com.example.chat, com.example.Mail"),
        ("fcm", "token-1", "com.example.chat", "chat-1"),
        ("wns", "https://db5.notify.windows.com/?token=a", "com.example.chat", "leave App out"),
    ]

    @Test(arguments: strangers) func `an app that is not there is refused with those that are`(
        row: (platform: String, handle: String, app: String, detail: String)
    ) throws {
        let site = try site()
        let (response, id) = try put(site, row.app, platform: row.platform, handle: row.handle)
        let problem = Problem(response)
        #expect(problem.code == .unknownApp && problem.field == "App" && problem.detail.contains(row.detail))
        #expect(try site.hubClient.registration(id) == nil)
    }

    @Test func `an app is refused where another hub delivers`() throws {
        let site = try site(.remoteHub)
        let problem = Problem(try put(site, "com.example.chat").response)
        #expect(problem.code == .unknownApp && problem.field == "App")
        #expect(try put(site, nil).response.status == .ok)
    }

    @Test func `an app is text`() throws {
        let site = try site()
        let body = #"{"Platform":"apns","Handle":"\#(TestSite.token(1))","App":1}"#
        let id = try JSONValue(parsing: site.call(.post, "/api/register", as: "alice").body).string ?? ""
        let problem = Problem(site.call(.put, "/api/register/\(id)", as: "alice", body: body))
        #expect(problem.status == .badRequest && problem.field == "App")
    }

    @Test func `the older call names the app as well`() throws {
        let site = try site()
        for (app, status) in [("com.example.chat", 200), ("com.example.other", 400)] {
            let body = InstallationRegistration(
                platform: .ios, installationID: "inst-1", handle: TestSite.token(1), app: app
            ).json
            let response = site.call(.post, "/api/register", as: "alice", body: String(decoding: body, as: UTF8.self))
            #expect(response.status.code == status)
            guard status == 200 else { continue }
            let answer = try JSONValue(parsing: response.body)
            #expect(answer["App"]?.string == app)
            let id = try #require(answer["RegistrationId"]?.string.flatMap { RegistrationID($0) })
            #expect(try tags(site, id) == ["app:com.example.chat", "inst-1", "username:alice"])
        }
    }

    @Test(arguments: ["app:com.example.Mail", "APP:x", "app:"])
    func `no user may claim an app's tag`(tag: String) throws {
        let site = try site()
        try site.change("alice") { $0.tags = ["*", "app:*"] }
        let (response, id) = try put(site, nil, tags: [tag])
        #expect(Problem(response).field == "Tags" && response.status == .forbidden)
        #expect(try site.hubClient.registration(id) == nil)
        let body = InstallationRegistration(platform: .ios, installationID: tag, handle: TestSite.token(1)).json
        let installation = site.call(.post, "/api/register", as: "alice", body: String(decoding: body, as: UTF8.self))
        #expect(Problem(installation).field == "instId" && installation.status == .forbidden)
    }

    @Test func `a device that is registered again is of the app that it names now`() throws {
        let site = try site()
        let (_, id) = try put(site, "com.example.chat", tags: ["news"])
        _ = try put(site, "com.example.Mail", tags: ["news"], id: id.description)
        #expect(try tags(site, id) == ["app:com.example.Mail", "news", "username:alice"])
        // Under a fresh id the former registration of the handle ends, whatever app it named.
        let (_, next) = try put(site, "com.example.chat")
        #expect(try site.hubClient.registration(id) == nil)
        #expect(try tags(site, next) == ["app:com.example.chat", "username:alice"])
        _ = try put(site, nil, id: next.description)
        #expect(try tags(site, next) == ["username:alice"])
        #expect(!list(site).contains("App"))
    }

    @Test func `a device whose user loses a tag keeps its app`() throws {
        let site = try site()
        let (_, id) = try put(site, "com.example.chat", tags: ["news"])
        var alice = try #require(try site.store.user("alice"))
        alice.tags = []
        _ = try site.upkeep().change(alice)
        #expect(try tags(site, id) == ["app:com.example.chat", "username:alice"])
        #expect(list(site).contains(#""Tags":[],"App":"com.example.chat"}"#))
    }

    @Test func `an app takes the place of one tag of sixty`() throws {
        let site = try site()
        let tags = (1...59).map { "t\($0)" }
        #expect(try put(site, nil, tags: tags).response.status == .ok)
        let problem = Problem(try put(site, "com.example.chat", tags: tags).response)
        #expect(problem.status == .badRequest && problem.field == "Tags")
        #expect(try put(site, "com.example.chat", tags: Array(tags.dropLast())).response.status == .ok)
    }

    @Test func `the client names it, also in the older call`() async throws {
        let site = try site()
        let device = try site.device(of: "alice")
        try await device.registration.register(
            handle: TestSite.token(1), platform: .apns, tags: ["news"], app: "com.example.chat")
        let id = try #require(device.registration.registrationID.flatMap { RegistrationID($0) })
        #expect(try tags(site, id) == ["app:com.example.chat", "news", "username:alice"])
        try await device.registration.register(
            InstallationRegistration(
                platform: .ios, installationID: "inst-1", handle: TestSite.token(2), app: "com.example.Mail"))
        #expect(list(site).contains(#""Tags":["inst-1"],"App":"com.example.Mail","InstallationId":"inst-1"}"#))
    }
}
