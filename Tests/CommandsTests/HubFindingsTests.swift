// SPDX-License-Identifier: Apache-2.0
import Curl
import HTTP
import HTTPTypes
import NotificationHub
import Testing

@testable import Commands

/// What is made of a hub's answers and of the way there.
struct HubFindingsTests {
    private static func error(_ status: Int, _ detail: String) -> Response {
        Response(
            status: HTTPResponse.Status(code: status),
            body: Array("<Error><Code>\(status)</Code><Detail>\(detail)</Detail></Error>".utf8))
    }

    private static let feed =
        #"<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Registrations</title></feed>"#
    private static let catalogue =
        #"<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Publicly Listed Services</title></feed>"#

    static let answers: [(Response, HubAnswer)] = [
        (Response(body: Array(feed.utf8)), .accepted), (Response(body: Array(catalogue.utf8)), .noSuchHub),
        (Response(body: Array("<html></html>".utf8)), .notAHub(status: 200)), (Response(), .notAHub(status: 200)),
        (error(401, "InvalidSignature: The token has an invalid signature..TrackingId:a"), .badSignature),
        (Response(status: .unauthorized), .badSignature),
        (
            Response(status: .unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"AppBackend\""]),
            .notAHub(status: 401)
        ),
        (Response(status: .unauthorized, body: Array("{}".utf8)), .notAHub(status: 401)),
        (error(401, "ExpiredToken: .TrackingId:a"), .expired),
        (error(401, "Manage claim is required for this operation..TrackingId:a"), .missingRight),
        (Response(status: .forbidden), .missingRight), (error(403, "whatever"), .missingRight),
        (Response(status: .forbidden, fields: [.retryAfter: "5"]), .throttled),
        (error(404, "No service is hosted at the specified address."), .noSuchHub),
        (Response(status: .notFound, body: Array("<html>".utf8)), .notAHub(status: 404)),
        (error(429, ""), .throttled), (Response(status: .tooManyRequests), .throttled),
        (Response(status: .badGateway), .failing(status: 502)), (error(400, "no"), .failing(status: 400)),
        (Response(status: .movedPermanently), .notAHub(status: 301)),
    ]

    @Test(arguments: answers) func `an answer is understood by status and form`(response: Response, meaning: HubAnswer)
    {
        #expect(HubAnswer(.success(response)) == meaning)
    }

    private static func judge(key: String = "DefaultFullSharedAccessSignature", caFile: String? = nil) -> HubFindings {
        HubFindings(
            name: "contoso", host: "ns.servicebus.windows.net", keyName: key, caFile: caFile, platforms: ["apns"],
            setting: SettingName(file: "/a.json"))
    }

    @Test func `a key that may only listen is known by its name`() {
        let judge = Self.judge(key: "DefaultListenSharedAccessSignature")
        let finding = judge.key(.missingRight, isClockWrong: false)
        #expect(finding.verdict == .fail && finding.found.contains("can never send"))
        #expect(judge.key(.accepted, isClockWrong: false).verdict == .ok)
    }

    @Test(arguments: [HubAnswer.badSignature, .expired]) func `a wrong clock is not blamed on the key`(
        answer: HubAnswer
    ) {
        #expect(Self.judge().key(answer, isClockWrong: true).verdict == .skipped)
        #expect(Self.judge().key(answer, isClockWrong: false).verdict == .fail)
    }

    static let failures: [(ConnectionProbe.Failure, Step, String)] = [
        (.unresolvable, .hub, "Endpoint in hub.connectionString in /a.json"), (.refused, .hub, "Endpoint"),
        (.timedOut, .hub, "443"), (.proxy, .hub, "hub.proxy"), (.other("x"), .hub, "Endpoint"),
        (.noTLS, .tls, "Endpoint"), (.caFile, .tls, "hub.caFile"), (.certificate(.expired, nil), .tls, "date"),
        (.certificate(.notYetValid, nil), .tls, "set-ntp"), (.certificate(.otherName, nil), .tls, "Endpoint"),
        (.certificate(.selfSigned, nil), .tls, "hub.caFile"),
        (.certificate(.unknownIssuer, nil), .tls, "ca-certificates"),
        (.certificate(.other(7), nil), .tls, "hub.caFile"),
    ]

    @Test(arguments: failures)
    func `a connection that fails is one step's affair`(failure: ConnectionProbe.Failure, step: Step, fix: String) {
        let tls = Self.judge().tls(.failure(failure), now: 0)
        let hub = Self.judge().hub(.failure(failure), nil)
        #expect(tls.verdict == (step == .tls ? .fail : .skipped))
        #expect(hub.verdict == (step == .hub ? .fail : .skipped))
        #expect([tls, hub].contains { $0.fix?.contains(fix) == true })
    }

    static let days: [(Int64, Verdict)] = [(31, .ok), (29, .warning), (6, .warning), (0, .warning)]

    @Test(arguments: days)
    func `a certificate is warned of from 30 days on`(days: Int64, verdict: Verdict) {
        let certificate = ServerCertificate(
            subject: "CN = a", issuer: "CN = b", notBefore: 0, notAfter: days * 86_400 + 7_200)
        let connection = ConnectionProbe.Connection(certificate: certificate, localAddress: "192.0.2.1")
        #expect(Self.judge().tls(.success(connection), now: 0).verdict == verdict)
    }
}
