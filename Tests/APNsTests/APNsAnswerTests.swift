// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Push
import Testing

@testable import APNs

func answer(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> Response {
    Response(
        status: .init(code: status), fields: retryAfter.map { [.retryAfter: $0] } ?? [:], body: Array(body.utf8))
}

private func word(_ reason: String) -> String { #"{"reason":"\#(reason)"}"# }

private func hold(_ fault: CredentialFault) -> PushResult.Action { .holdCredential(reason: fault.rawValue) }

@Suite struct `An answer of APNs` {
    @Test func `that accepts the message settles it`() throws {
        #expect(try driver().result(of: answer(200)) == PushResult(.success))
    }

    typealias Row = (Int, String, PushOutcome, PushResult.Action, closes: Bool)

    static let rows: [Row] = [
        (400, "BadDeviceToken", .badChannel, .removeRegistration(goneSince: nil), false),
        (
            400, "DeviceTokenNotForTopic", .wrongChannel,
            .doubtRegistration(reason: CredentialFault.otherApp.rawValue), false
        ),
        (400, "TopicDisallowed", .invalidCredentials, .settle, false),
        (400, "BadTopic", .pnsInterfaceError, .settle, false),
        (400, "MissingTopic", .pnsInterfaceError, .settle, false),
        (400, "BadCollapseId", .invalidNotificationFormat, .settle, false),
        (400, "BadExpirationDate", .invalidNotificationFormat, .settle, false),
        (400, "BadMessageId", .invalidNotificationFormat, .settle, false),
        (400, "BadPriority", .invalidNotificationFormat, .settle, false),
        (400, "InvalidPushType", .invalidNotificationFormat, .settle, false),
        (400, "PayloadEmpty", .invalidNotificationFormat, .settle, false),
        (400, "DuplicateHeaders", .pnsInterfaceError, .settle, false),
        (400, "MissingDeviceToken", .pnsInterfaceError, .settle, false),
        (400, "IdleTimeout", .pnsUnavailable, .retry(afterSeconds: nil), true),
        (403, "ExpiredProviderToken", .invalidCredentials, .renewCredential, true),
        (403, "InvalidProviderToken", .invalidCredentials, hold(.key), false),
        (403, "MissingProviderToken", .invalidCredentials, hold(.key), false),
        (403, "BadCertificate", .invalidCredentials, hold(.certificate), false),
        (403, "BadCertificateEnvironment", .invalidCredentials, hold(.environment), false),
        (403, "Forbidden", .invalidCredentials, hold(.forbidden), false),
        (403, "UnrelatedKeyIdInToken", .invalidCredentials, hold(.unrelatedKey), true),
        (403, "BadEnvironmentKeyIdInToken", .invalidCredentials, hold(.environment), false),
        (403, "BadEnvironmentKeyInToken", .invalidCredentials, hold(.environment), false),
        (403, "NewReason", .invalidCredentials, hold(.forbidden), false),
        (404, "BadPath", .pnsInterfaceError, .settle, false),
        (405, "MethodNotAllowed", .pnsInterfaceError, .settle, false),
        (410, "Unregistered", .expiredChannel, .removeRegistration(goneSince: nil), false),
        (410, "ExpiredToken", .expiredChannel, .removeRegistration(goneSince: nil), false),
        (410, "NewReason", .expiredChannel, .removeRegistration(goneSince: nil), false),
        (413, "PayloadTooLarge", .invalidNotificationSize, .settle, false),
        (429, "TooManyRequests", .throttled, .retryDevice(afterSeconds: nil), false),
        (429, "TooManyProviderTokenUpdates", .throttled, .retry(afterSeconds: nil), true),
        (429, "NewReason", .throttled, .retry(afterSeconds: nil), false),
        (500, "InternalServerError", .pnsServerError, .retryPush(afterSeconds: 900), false),
        (503, "ServiceUnavailable", .pnsUnavailable, .retry(afterSeconds: 900), false),
        (503, "Shutdown", .pnsUnavailable, .retry(afterSeconds: nil), true),
        (503, "NewReason", .pnsUnavailable, .retry(afterSeconds: 900), false),
        (502, "NewReason", .pnsServerError, .settle, false),
        (400, "NewReason", .pnsInterfaceError, .settle, false), (418, "NewReason", .pnsInterfaceError, .settle, false),
        (301, "NewReason", .pnsInterfaceError, .settle, false), (201, "NewReason", .pnsInterfaceError, .settle, false),
    ]

    @Test(arguments: rows.indices)
    func `has the consequences of its reason`(_ row: Int) throws {
        let (status, reason, outcome, action, closes) = Self.rows[row]
        #expect(
            try driver().result(of: answer(status, word(reason)))
                == PushResult(outcome, action, closesConnection: closes, reason: reason))
    }

    @Test(arguments: ["", "{}", "<html>", "[]", #"{"reason":7}"#, #"{"reason":""}"#, #"{"reason":"a b\n"}"#])
    func `without a reason has the consequences of its status, and nothing for the log`(_ body: String) throws {
        let expected: [(Int, PushOutcome, PushResult.Action)] = [
            (400, .pnsInterfaceError, .settle), (403, .invalidCredentials, hold(.forbidden)),
            (404, .pnsInterfaceError, .settle), (410, .expiredChannel, .removeRegistration(goneSince: nil)),
            (413, .invalidNotificationSize, .settle), (429, .throttled, .retry(afterSeconds: nil)),
            (500, .pnsServerError, .settle), (503, .pnsUnavailable, .retry(afterSeconds: 900)),
        ]
        for (status, outcome, action) in expected {
            #expect(try driver().result(of: answer(status, body)) == PushResult(outcome, action))
        }
    }

    @Test(
        arguments: [
            ("1800000000999", 1_800_000_000), ("1", 0), ("0", nil), ("-5", nil), (#""1800000000000""#, nil),
            ("1.5e12", nil), ("99999999999999999999", nil), ("9223372036854775807", 9_223_372_036_854_775),
        ] as [(String, Int64?)])
    func `the timestamp of a 410 is parsed as milliseconds`(_ timestamp: String, _ seconds: Int64?) throws {
        let body = #"{"reason":"Unregistered","timestamp":\#(timestamp)}"#
        #expect(try driver().result(of: answer(410, body)).action == .removeRegistration(goneSince: seconds))
    }

    @Test func `to a device of another environment or topic leaves it where there is another`() throws {
        let wrong = try driver(otherEnvironment: true).result(of: answer(400, word("BadDeviceToken")))
        #expect(wrong == PushResult(.badChannel, .tryOtherEnvironment, reason: "BadDeviceToken"))
        let other = try driver(otherTopic: true).result(of: answer(400, word("DeviceTokenNotForTopic")))
        #expect(other == PushResult(.wrongChannel, reason: "DeviceTokenNotForTopic"))
    }

    @Test(arguments: ["ExpiredProviderToken", "InvalidProviderToken"], [-7_200, 7_200])
    func `to a token that was dated by a wrong clock names the clock, and how far it is off`(
        reason: String, off: Int64
    ) throws {
        var refused = answer(403, word(reason))
        // 2027-01-15T08:00:00Z, as this host's clock has it in these tests.
        refused.fields[.date] = off < 0 ? "Fri, 15 Jan 2027 10:00:00 GMT" : "Fri, 15 Jan 2027 06:00:00 GMT"
        let result = try driver().result(of: refused)
        guard case .holdCredential(let words) = result.action else {
            Issue.record("a hold expected")
            return
        }
        #expect(words.contains("this host's clock is 7200 s \(off < 0 ? "behind" : "ahead of") that of the service"))
        #expect(words.count <= 200 && result.outcome == .invalidCredentials)
        refused.fields[.date] = "Fri, 15 Jan 2027 08:09:59 GMT"
        let right = try driver().result(of: refused).action
        #expect(right == (reason == "ExpiredProviderToken" ? .renewCredential : hold(.key)))
    }

    @Test func `is obeyed where it says when to come again`() throws {
        for (status, reason, action) in [
            (429, "TooManyRequests", PushResult.Action.retryDevice(afterSeconds: 7)),
            (503, "ServiceUnavailable", .retry(afterSeconds: 7)), (503, "Shutdown", .retry(afterSeconds: 7)),
            (500, "InternalServerError", .retryPush(afterSeconds: 7)),
        ] {
            #expect(try driver().result(of: answer(status, word(reason), retryAfter: "7")).action == action)
        }
    }
}
