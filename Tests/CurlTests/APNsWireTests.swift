// SPDX-License-Identifier: Apache-2.0
import APNs
import Curl
import Foundation
import HTTP
import NotificationHub
import Support
import Testing
import Text

@Suite struct `APNs over the wire` {
    @Test func `gets the first push alone and then many over one connection, all with one token`() throws {
        let site = try APNsSite()
        let sender = site.sender()
        try site.push(sender, 0..<200)
        try site.outcomes.wait(for: 200)
        sender.close()
        #expect(site.outcomes.statuses.allSatisfy { $0 == 200 })
        let order = site.double.events.map(\.name).filter { $0 == "push" || $0 == "answer" }
        #expect(order.prefix(3) == ["push", "answer", "push"])
        #expect(site.double.events("connection").count == 1)
        #expect(Set(site.double.events("push").map(\.token)).count == 1)
        site.expectPeace()
    }

    @Test func `narrows a connection after a rejection, and nothing is lost`() throws {
        let site = try APNsSite()
        let sender = site.sender()
        try site.begin(sender)
        for number in 1..<400 {
            try site.push(sender, number..<number + 1, as: number % 20 == 0 ? "e001" : "00")
        }
        try site.outcomes.wait(for: 399)
        sender.close()
        #expect(site.outcomes.statuses.enumerated().allSatisfy { $1 == ($0 > 0 && $0 % 20 == 0 ? 400 : 200) })
        #expect(site.double.events("limit").contains { $0.json["streams"]?.integer == 1000 })
        #expect(site.double.events("limit").count(where: { $0.json["streams"]?.integer == 1 }) > 1)
        #expect(site.double.events("connection").count == 1)
        site.expectPeace()
    }

    @Test func `renews its token under 500 pushes without a refusal, over two connections for a moment`() throws {
        let site = try APNsSite()
        let sender = site.sender()
        try site.begin(sender)
        try site.push(sender, 1..<501, as: "d0")
        _ = site.double.events("push", atLeast: 501)
        site.setTime(later: 51)
        try site.push(sender, 501..<601)
        try site.push(sender, 601..<602, as: "df")
        try site.outcomes.wait(for: 601)
        #expect(site.outcomes.statuses.count == 602 && site.outcomes.statuses.allSatisfy { $0 == 200 })
        let pushes = site.double.events("push")
        #expect(pushes.filter { $0.device.hasPrefix("d0") }.allSatisfy { $0.connection == 1 })
        #expect(pushes.suffix(101).allSatisfy { $0.connection == 2 })
        #expect(Set(pushes.map { "\($0.connection) \($0.token ?? "")" }).count == 2)
        #expect(Set(pushes.map(\.token)).count == 2)
        // The former one ends by itself.
        let closed = try #require(site.double.events("closed", atLeast: 1).first)
        #expect(closed.connection == 1 && closed.json["unanswered"]?.integer == 0)
        sender.close()
        site.expectPeace()
    }

    @Test func `is left at the deadline when it falls silent, and gets a new connection`() throws {
        try Patience.withMoreTime { timeout in
            let site = try APNsSite()
            let sender = site.sender(site.double.options(timeout: timeout * 4))
            try site.push(sender, 0..<1)
            try site.outcomes.wait(for: 1)
            try site.push(sender, 1..<4, as: "c003")
            try site.outcomes.wait(for: 3)
            try site.push(sender, 4..<5)
            try site.outcomes.wait(for: 1)
            sender.close()
            let connections = site.double.events("push").filter { $0.device.hasPrefix("00") }.map(\.connection)
            return site.outcomes.statuses == [200, nil, nil, nil, 200] && connections == [1, 2]
                && site.outcomes.failures.allSatisfy { $0.kind == "timeout" }
        }
    }

    @Test func `gets a new token on a new connection when the former one had a wrong date`() throws {
        let site = try APNsSite()
        site.setTime(dateOff: -7200)
        let sender = site.sender()
        let sentAt = site.instant
        try site.push(sender, 0..<3)
        try site.outcomes.wait(for: 3)
        #expect(site.outcomes.statuses == [403, 403, 403])
        site.setTime(later: 21)
        sender.renewCredential(refused: sentAt)
        try site.push(sender, 3..<6)
        try site.outcomes.wait(for: 3)
        sender.close()
        #expect(site.outcomes.statuses.suffix(3) == [200, 200, 200])
        #expect(site.double.events("push").map(\.connection) == [1, 2, 2, 2])
    }

    @Test func `refuses the token of a key that it does not know`() throws {
        let site = try APNsSite()
        let other = try APNsDouble()
        let sender = APNsSender(key: other.key, now: { Int64(Date().timeIntervalSince1970) }) {
            let transport = try CurlTransport(site.double.options())
            return APNsTransport(transport, close: { transport.close() })
        }
        try site.push(sender, 0..<1)
        try site.outcomes.wait(for: 1)
        sender.close()
        #expect(site.outcomes.statuses == [403])
        let reason = try #require(site.double.events("answer").first?.json["reason"]?.string)
        #expect(reason == "InvalidProviderToken")
    }
}

@Suite struct `A client certificate` {
    private func makePKCS12(_ folder: ScratchFolder, _ options: [String]) throws -> String {
        let file = folder.path("client\(options.count).p12")
        let made = try ChildProcess(
            "/usr/bin/openssl",
            [
                "pkcs12", "-export", "-in", folder.path("client.pem"), "-inkey", folder.path("client.key"), "-out",
                file,
                "-passout", "pass:secret",
            ] + options)
        #expect(made.wait(seconds: Patience.seconds) == 0)
        return file
    }

    private func failure(_ site: APNsSite, _ certificate: ClientCertificate) throws -> (Int?, String?) {
        var options = site.double.options()
        options.clientCertificate = certificate
        let sender = site.sender(options, hasKey: false)
        try site.push(sender, 0..<1)
        try site.outcomes.wait(for: 1)
        sender.close()
        return (site.outcomes.statuses.first ?? nil, site.outcomes.failures.first?.kind)
    }

    @Test func `of a PEM file takes the place of a token`() throws {
        let site = try APNsSite()
        let folder = site.double.folder
        let both = try ["client.pem", "client.key"].map { try String(contentsOfFile: folder.path($0), encoding: .utf8) }
        let file = try folder.write(both.joined(), to: "both.pem")
        #expect(try failure(site, ClientCertificate(file: file)) == (200, nil))
        #expect(site.double.events("connection").first?.json["certificate"]?.bool == true)
        #expect(site.double.events("push").first?.token == nil)
    }

    @Test func `of a PKCS 12 file needs its password`() throws {
        let site = try APNsSite()
        let file = try makePKCS12(site.double.folder, [])
        #expect(try failure(site, ClientCertificate(file: file, password: Secret("secret"))) == (200, nil))
        let other = try APNsSite()
        let wrong = ClientCertificate(file: file, password: Secret("wrong"))
        #expect(try failure(other, wrong) == (nil, "insecure"))
        #expect(other.double.events("push").isEmpty)
    }

    @Test func `in the form of older tools, or none at all, is an error of the connection`() throws {
        let site = try APNsSite()
        let legacy = try makePKCS12(site.double.folder, ["-legacy"])
        #expect(try failure(site, ClientCertificate(file: legacy, password: Secret("secret"))) == (nil, "insecure"))
        let other = try APNsSite()
        let missing = ClientCertificate(file: other.double.folder.path("missing.pem"))
        #expect(try failure(other, missing) == (nil, "insecure"))
    }

    @Test func `is printed without its password`() {
        let certificate = ClientCertificate(file: "/x.p12", password: Secret("secret"))
        #expect(!"\(certificate)".contains("secret") && !String(reflecting: certificate).contains("secret"))
    }
}
