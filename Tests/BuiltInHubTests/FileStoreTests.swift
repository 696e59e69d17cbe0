// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import NotificationHub
import Store
import Testing
import Text

import class System.Lock

/// The hub on the store that it is delivered with: what the store in memory may hide.
@Suite final class `The built-in hub on files` {
    private let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "local-hub-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    private func bench() throws -> HubBench { HubBench(store: try FileSiteStore.open(path: path, options: .patient)) }

    @Test func `registrations and sends outlive the process`() throws {
        let body = """
            <WindowsTemplateRegistrationDescription \(HubBench.namespaces)><Tags>Ä,b</Tags>\
            <PushVariables>{"k":"v\\n"}</PushVariables><ChannelUri>https://some.url/</ChannelUri>\
            <BodyTemplate><![CDATA[<toast>"$(m)"</toast>]]></BodyTemplate>\
            <WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader>\
            <WnsHeader><Header>X-WNS-Type</Header><Value>wns/tile</Value></WnsHeader></WnsHeaders>\
            </WindowsTemplateRegistrationDescription>
            """
        let first = try bench()
        #expect(first.put("1-2-3", body).status.code == 200)
        #expect(first.put("1-2-3", body).status.code == 200)
        let sent = first.send("template", tags: "ä")
        let before = first.ask(.get, "/myhub/registrations/1-2-3")
        let second = try bench()
        let after = second.ask(.get, "/myhub/registrations/1-2-3")
        #expect(after.body == before.body)
        let registration = try AtomEntry(decoding: after.body).registration
        #expect(registration.etag == "2")
        #expect(registration.template?.headers.map(\.value) == ["wns/toast", "wns/tile"])
        let details = second.ask(.get, "/myhub/messages/\(sent.createdID)")
        #expect(try NotificationDetails(decoding: details.body).outcomes.first?.counts.first?.count == 1)
    }

    @Test func `pages neither repeat nor lose, also by tag`() throws {
        let bench = try bench()
        let all = (1...25).map { "\($0)-1-1" }
        for id in all { #expect(bench.put(id, HubBench.apple("AB", tags: "all")).status.code == 200) }
        let paths = [
            "/myhub/registrations?", "/myhub/tags/ALL/registrations?",
            "/myhub/registrations?$filter=DeviceToken+eq+'ab'&",
        ]
        for path in paths {
            let halves = path.split(separator: "?", omittingEmptySubsequences: false).map(String.init)
            var found: [String] = []
            var token: String? = ""
            for _ in 0..<100 {
                guard let after = token else { break }
                let query = halves[1] + "api-version=2020-06&$top=4&continuationtoken=\(after)"
                let response = bench.ask(.get, halves[0], query: query)
                #expect(response.status.code == 200)
                found += try response.ids()
                token = response.fields[.continuationToken]
            }
            #expect(token == nil)
            #expect(found.sorted() == all.sorted())
        }
    }

    @Test func `an invalid continuation is a 400 and no first page`() throws {
        let bench = try bench()
        bench.put("1-2-3", HubBench.apple("AB"))
        for token in ["xyz", "1-2-3", "00", "fffffffffffffffff"] {
            let response = bench.ask(
                .get, "/myhub/registrations", query: "api-version=2020-06&continuationtoken=\(token)")
            #expect(response.status.code == 400)
        }
    }

    @Test func `a registration that cannot be read costs no other one, and is reported once`() throws {
        let reports = Lock<[StoreError]>([])
        let store = try FileSiteStore.open(path: path)
        let bench = HubBench(store: store) { error in reports.withLock { $0.append(error) } }
        bench.put("1-1-1", HubBench.apple("AB01", tags: "news"))
        _ = try store.putHubRegistration(
            HubRegistration(
                id: "2-2-2", channel: "AB02", tags: ["news"], description: .object([]),
                updatedAt: Timestamp(seconds: 0)))
        for path in ["registrations", "tags/news/registrations"] {
            let list = bench.ask(.get, "/myhub/\(path)")
            #expect(list.status.code == 200)
            #expect(try list.ids() == ["1-1-1"])
        }
        let device = bench.ask(.get, "/myhub/registrations", query: "api-version=1&$filter=ChannelUri+eq+'AB02'")
        #expect(try device.ids() == [])
        for tags in ["news", nil] {
            let sent = bench.send("apple", tags: tags)
            let details = bench.ask(.get, "/myhub/messages/\(sent.createdID)")
            #expect(try NotificationDetails(decoding: details.body).outcomes.first?.counts.first?.count == 1)
        }
        #expect(reports.withLock { $0 } == [.damaged(detail: "hub registration 2-2-2: handle")])
        #expect(bench.ask(.get, "/myhub/registrations/2-2-2").status.code == 503)
    }

    @Test func `writers of one id in two processes' stores do not lose each other's`() async throws {
        let benches = [try bench(), try bench()]
        var statuses: [Int: Int] = [:]
        await withTaskGroup(of: Int.self) { group in
            for writer in 0..<10 {
                group.addTask { benches[writer % 2].put("1-2-3", HubBench.apple("0\(writer)")).status.code }
            }
            for await status in group { statuses[status, default: 0] += 1 }
        }
        #expect(Set(statuses.keys).isSubset(of: [200, 409]))
        let read = try AtomEntry(decoding: benches[0].ask(.get, "/myhub/registrations/1-2-3").body)
        #expect(read.registration.etag == String(statuses[200] ?? 0))
        let found = benches[1].ask(.get, "/myhub/registrations", query: "api-version=1&$filter=ChannelUri+eq+'00'")
        #expect(try found.ids() == (read.registration.handle.channel == "00" ? ["1-2-3"] : []))
    }
}
