// SPDX-License-Identifier: Apache-2.0
import Curl
import HTTP
import HTTPTypes
import NotificationHub
import Testing

@testable import Commands

/// The judgement of a hub's answers and of the way there.
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
        (Response(status: .notFound), .notAHub(status: 404)),
        (error(429, ""), .throttled), (Response(status: .tooManyRequests), .throttled),
        (Response(status: .internalServerError), .failing(status: 500)),
        (Response(status: .badGateway), .failing(status: 502)), (error(400, "no"), .failing(status: 400)),
        (Response(status: .movedPermanently), .notAHub(status: 301)),
    ]

    @Test(arguments: answers) func `an answer is understood by status and form`(response: Response, meaning: HubAnswer)
    {
        #expect(HubAnswer(.success(response)) == meaning)
    }

    /// What is known of the hub, and the judgement of all three steps.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        var connection = HubFindingsTests.good(for: 90)
        /// nil: the hub was not asked.
        var answer: HubAnswer?
        var keyName = "DefaultFullSharedAccessSignature"
        var isClockWrong = false
        /// Of TLS, key and hub.
        let verdicts: [Verdict]
        /// A part of the sentences.
        let found: String
        /// A part of the fixes; empty: there is none.
        let fix: String

        var testDescription: String { name }
    }

    /// With a certificate that ends in so many days and two hours.
    private static func good(
        for days: Int64
    ) -> Result<ConnectionProbe.Connection, ConnectionProbe.Failure> {
        let certificate = ServerCertificate(
            subject: "CN = a", issuer: "CN = b", notBefore: 0, notAfter: days * 86_400 + 7_200)
        return .success(.init(certificate: certificate, localAddress: "192.0.2.1"))
    }

    private static let other = ServerCertificate(
        subject: "CN = a", issuer: "CN = b", names: "DNS:other.example", notBefore: 0, notAfter: 0)
    private static let string = "in hub.connectionString in /a.json"

    static let answered: [Row] = [
        Row(name: "accepted", answer: .accepted, verdicts: [.ok, .ok, .ok], found: "has all rights", fix: ""),
        Row(
            name: "another key", answer: .badSignature, verdicts: [.ok, .fail, .skipped],
            found: "the key is not that of DefaultFullSharedAccessSignature",
            fix: "SharedAccessKeyName and SharedAccessKey \(string)"),
        Row(
            name: "another name of the key", answer: .badSignature, keyName: "MyPolicy",
            verdicts: [.ok, .fail, .skipped], found: "MyPolicy is not one of the two", fix: "SharedAccessKeyName"),
        Row(
            name: "another key and a wrong clock", answer: .badSignature, isClockWrong: true,
            verdicts: [.ok, .skipped, .skipped], found: "see `clock`", fix: ""),
        Row(
            name: "expired", answer: .expired, verdicts: [.ok, .fail, .skipped], found: "calls the signature expired",
            fix: "timedatectl set-ntp true"),
        Row(
            name: "expired by a wrong clock", answer: .expired, isClockWrong: true,
            verdicts: [.ok, .skipped, .skipped], found: "see `clock`", fix: ""),
        Row(
            name: "a right is missing", answer: .missingRight, verdicts: [.ok, .fail, .skipped], found: "lacks rights",
            fix: "Listen, Send and Manage"),
        Row(
            name: "a key that may only listen", answer: .missingRight, keyName: "DefaultListenSharedAccessSignature",
            verdicts: [.ok, .fail, .skipped], found: "can never send", fix: "Listen, Send and Manage"),
        Row(
            name: "no such hub", answer: .noSuchHub, verdicts: [.ok, .skipped, .fail], found: "has no hub contoso",
            fix: "hub.name in /a.json"),
        Row(
            name: "not a hub", answer: .notAHub(status: 404), verdicts: [.ok, .skipped, .fail],
            found: "404, and not as a hub", fix: "Endpoint \(string)"),
        Row(
            name: "out of order", answer: .failing(status: 500), verdicts: [.ok, .skipped, .fail],
            found: "answers 500", fix: "status page"),
        Row(
            name: "throttled", answer: .throttled, verdicts: [.ok, .skipped, .warning], found: "too many calls",
            fix: "tier"),
        Row(
            name: "silence", answer: .noAnswer("timeout"), verdicts: [.ok, .skipped, .fail],
            found: "does not answer: timeout", fix: "hub.timeout in /a.json"),
        Row(
            name: "31 days", connection: good(for: 31), answer: .accepted, verdicts: [.ok, .ok, .ok],
            found: "good for 31 days", fix: ""),
        Row(
            name: "29 days", connection: good(for: 29), answer: .accepted, verdicts: [.warning, .ok, .ok],
            found: "only good for 29 days", fix: "must renew it"),
        Row(
            name: "6 days", connection: good(for: 6), answer: .accepted, verdicts: [.warning, .ok, .ok],
            found: "renew it now", fix: "must renew it"),
        Row(
            name: "2 hours", connection: good(for: 0), answer: .accepted, verdicts: [.warning, .ok, .ok],
            found: "only good for 2 hours", fix: "must renew it"),
    ]

    /// One of the three steps fails, and the two others are left out.
    private static func failure(
        _ failure: ConnectionProbe.Failure, _ step: Step, _ found: String, fix: String
    ) -> Row {
        Row(
            name: "\(failure)", connection: .failure(failure),
            verdicts: [Step.tls, .key, .hub].map { $0 == step ? .fail : .skipped }, found: found, fix: fix)
    }

    static let failures: [Row] = [
        failure(.unresolvable, .hub, "has no address", fix: "Endpoint \(string)"),
        failure(.refused, .hub, "nothing listens", fix: "Endpoint \(string)"),
        failure(.timedOut, .hub, "in time", fix: "443"), failure(.proxy, .hub, "the proxy", fix: "hub.proxy"),
        failure(.other("x"), .hub, ": x", fix: "Endpoint \(string)"),
        failure(.noTLS, .tls, "does not speak TLS", fix: "Endpoint \(string)"),
        failure(.caFile, .tls, "the file of hub.caFile", fix: "hub.caFile in /a.json"),
        failure(.certificate(.expired, nil), .tls, "has expired", fix: "date"),
        failure(.certificate(.notYetValid, nil), .tls, "not valid yet", fix: "set-ntp"),
        failure(.certificate(.otherName, other), .tls, "DNS:other.example", fix: "Endpoint \(string)"),
        failure(.certificate(.selfSigned, nil), .tls, "signed by itself", fix: "hub.caFile in /a.json"),
        failure(.certificate(.unknownIssuer, nil), .tls, "does not know", fix: "ca-certificates"),
        failure(.certificate(.other(7), nil), .tls, "reason 7", fix: "hub.caFile in /a.json"),
    ]

    @Test(arguments: answered + failures)
    func `a trouble is one step's affair, with its sentence and its fix`(row: Row) {
        let judge = HubFindings(
            name: "contoso", host: "ns.servicebus.windows.net", keyName: row.keyName, caFile: nil,
            platforms: ["apns"], setting: SettingName(file: "/a.json"))
        let findings = [
            judge.tls(row.connection, now: 0), judge.key(row.answer, isClockWrong: row.isClockWrong),
            judge.hub(row.connection, row.answer),
        ]
        let found = findings.map(\.found).joined(separator: "\n")
        let fixes = findings.compactMap(\.fix).joined(separator: "\n")
        #expect(
            findings.map(\.verdict) == row.verdicts && found.contains(row.found)
                && (row.fix.isEmpty ? fixes.isEmpty : fixes.contains(row.fix)), "\(findings)")
    }
}
