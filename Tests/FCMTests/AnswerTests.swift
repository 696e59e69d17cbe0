// SPDX-License-Identifier: Apache-2.0
import FCM
import HTTP
import HTTPTypes
import Push
import Testing

private let fcm = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
private let badRequest = "type.googleapis.com/google.rpc.BadRequest"
private let quotaFailure = "type.googleapis.com/google.rpc.QuotaFailure"
private let retryInfo = "type.googleapis.com/google.rpc.RetryInfo"
private let errorInfo = "type.googleapis.com/google.rpc.ErrorInfo"

private func error(_ status: String, _ message: String = "", _ details: String...) -> String {
    #"{"error":{"code":0,"message":"\#(message)","status":"\#(status)","details":[\#(details.joined(separator: ","))]}}"#
}

private func code(_ code: String) -> String { #"{"@type":"\#(fcm)","errorCode":"\#(code)"}"# }

private func result(_ status: Int, _ body: String, _ fields: HTTPFields = [:]) throws -> PushResult {
    let driver = FCMDriver(project: "p", now: { 1_800_000_000 })
    let response = Response(status: .init(code: status), fields: fields, body: Array(body.utf8))
    return try #require(driver).result(of: response)
}

@Suite struct `What FCM's answer means` {
    static let otherProject = "the service account's project p is not the one that the app was built with"

    @Test func `a token of another project keeps its registration, and is a doubt where there is no other project`()
        throws
    {
        let body = error("PERMISSION_DENIED", "SenderId mismatch", code("SENDER_ID_MISMATCH"))
        for (hasOther, action) in [
            (false, PushResult.Action.doubtRegistration(reason: Self.otherProject)), (true, .settle),
        ] {
            let driver = FCMDriver(project: "p", hasOtherProject: hasOther, now: { 0 })
            let result = try #require(driver).result(of: Response(status: .forbidden, body: Array(body.utf8)))
            #expect(result == PushResult(.wrongToken, action, reason: "SENDER_ID_MISMATCH"))
        }
    }

    static let notAToken = "The registration token is not a valid FCM registration token"
    static let disabled = "Firebase Cloud Messaging API has not been used in project 1 before or it is disabled."

    static let results: [(Int, String, PushResult)] = [
        (200, #"{"name":"projects/p/messages/1"}"#, PushResult(.success)),
        (
            400, error("INVALID_ARGUMENT", notAToken, code("INVALID_ARGUMENT")),
            PushResult(.badChannel, .removeRegistration(goneSince: nil), reason: "INVALID_ARGUMENT")
        ),
        (
            400,
            error(
                "INVALID_ARGUMENT", "Request contains an invalid argument.", code("INVALID_ARGUMENT"),
                #"{"@type":"\#(badRequest)","fieldViolations":[{"field":"message.fid","description":"x"}]}"#),
            PushResult(.badChannel, .removeRegistration(goneSince: nil), reason: "INVALID_ARGUMENT")
        ),
        (
            400, error("INVALID_ARGUMENT", "Request contains an invalid argument.", code("INVALID_ARGUMENT")),
            PushResult(.invalidNotificationFormat, reason: "INVALID_ARGUMENT")
        ),
        (
            400, error("INVALID_ARGUMENT", "Android message is too big", code("INVALID_ARGUMENT")),
            PushResult(.invalidNotificationSize, reason: "INVALID_ARGUMENT")
        ),
        // Of the request's form, whatever its words are: no device is to blame.
        (
            400,
            error(
                "INVALID_ARGUMENT", "Invalid value at 'message.token': registration token",
                #"{"@type":"\#(badRequest)","fieldViolations":[{"field":"message.token"}]}"#),
            PushResult(.invalidNotificationFormat, reason: "INVALID_ARGUMENT")
        ),
        (
            401, error("UNAUTHENTICATED", "x", code("THIRD_PARTY_AUTH_ERROR")),
            PushResult(.invalidCredentials, reason: "THIRD_PARTY_AUTH_ERROR")
        ),
        (
            401, error("UNAUTHENTICATED", "x", code("APNS_AUTH_ERROR")),
            PushResult(.invalidCredentials, reason: "APNS_AUTH_ERROR")
        ),
        (
            401, error("UNAUTHENTICATED", "x", #"{"@type":"\#(errorInfo)","reason":"ACCESS_TOKEN_EXPIRED"}"#),
            PushResult(.invalidCredentials, .renewCredential, reason: "UNAUTHENTICATED")
        ),
        (401, "", PushResult(.invalidCredentials, .renewCredential)),
        (
            403, error("PERMISSION_DENIED", "SenderId mismatch", code("SENDER_ID_MISMATCH")),
            PushResult(.wrongToken, .doubtRegistration(reason: otherProject), reason: "SENDER_ID_MISMATCH")
        ),
        (
            403, error("PERMISSION_DENIED", disabled),
            PushResult(
                .invalidCredentials, .holdCredential(reason: "FCM does not let the credential send: \(disabled)"),
                reason: "PERMISSION_DENIED")
        ),
        (
            403, "<html>",
            PushResult(.invalidCredentials, .holdCredential(reason: "FCM does not let the credential send: HTTP 403"))
        ),
        (
            404, error("NOT_FOUND", "Requested entity was not found.", code("UNREGISTERED")),
            PushResult(.expiredChannel, .removeRegistration(goneSince: nil), reason: "UNREGISTERED")
        ),
        (
            404, error("NOT_FOUND", "Requested entity was not found."),
            PushResult(
                .pnsInterfaceError,
                .holdCredential(reason: "FCM does not know the project: Requested entity was not found."),
                reason: "NOT_FOUND")
        ),
        (
            404, "<html>",
            PushResult(.pnsInterfaceError, .holdCredential(reason: "FCM does not know the project: HTTP 404"))
        ),
        (413, "", PushResult(.invalidNotificationSize)),
        (
            429, error("RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'x'", code("QUOTA_EXCEEDED")),
            PushResult(.throttled, .retry(afterSeconds: 60), reason: "QUOTA_EXCEEDED")
        ),
        (
            429, error("RESOURCE_EXHAUSTED"),
            PushResult(.throttled, .retry(afterSeconds: 60), reason: "RESOURCE_EXHAUSTED")
        ),
        (429, "", PushResult(.throttled, .retry(afterSeconds: 60))),
        (
            429,
            error(
                "RESOURCE_EXHAUSTED", "x", code("QUOTA_EXCEEDED"),
                #"{"@type":"\#(quotaFailure)","violations":[{"subject":"DeviceMessageRate","description":"x"}]}"#,
                #"{"@type":"\#(retryInfo)","retryDelay":"5s"}"#),
            PushResult(.channelThrottled, .retryDevice(afterSeconds: 60), reason: "QUOTA_EXCEEDED")
        ),
        (
            500, error("INTERNAL", "", code("INTERNAL")),
            PushResult(.pnsServerError, .retry(afterSeconds: 10), reason: "INTERNAL")
        ),
        (
            503, error("UNAVAILABLE", "", code("UNAVAILABLE")),
            PushResult(.pnsUnavailable, .retry(afterSeconds: 10), reason: "UNAVAILABLE")
        ),
        (
            503, error("UNAVAILABLE", "", #"{"@type":"\#(retryInfo)","retryDelay":"30.2s"}"#),
            PushResult(.pnsUnavailable, .retry(afterSeconds: 31), reason: "UNAVAILABLE")
        ),
        (500, "<html>", PushResult(.pnsServerError)), (502, "", PushResult(.pnsServerError)),
        (503, "<html>", PushResult(.pnsServerError)), (504, "", PushResult(.pnsServerError)),
        (302, "", PushResult(.pnsInterfaceError)), (204, "", PushResult(.pnsInterfaceError)),
        (400, "<html>", PushResult(.pnsInterfaceError)),
        // A code of tomorrow: the RPC's name decides.
        (
            503, error("UNAVAILABLE", "", code("BRAND_NEW")),
            PushResult(.pnsUnavailable, .retry(afterSeconds: 10), reason: "BRAND_NEW")
        ),
        (418, error("ALSO_NEW"), PushResult(.pnsInterfaceError, reason: "ALSO_NEW")),
    ]

    @Test(arguments: results)
    func `is in its details, then in its names, then in the status`(
        status: Int, body: String, expected: PushResult
    ) throws {
        #expect(try result(status, body) == expected)
    }

    @Test func `says when to try again, in the header before the body`() throws {
        let info = #"{"@type":"\#(retryInfo)","retryDelay":"5s"}"#
        let quota = error("RESOURCE_EXHAUSTED", "", code("QUOTA_EXCEEDED"), info)
        #expect(try result(429, quota, [.retryAfter: "120"]).action == .retry(afterSeconds: 120))
        #expect(try result(429, quota).action == .retry(afterSeconds: 5))
        #expect(try result(503, error("UNAVAILABLE"), [.retryAfter: "7"]).action == .retry(afterSeconds: 7))
    }

    @Test(arguments: ["-1s", "5", "1e99s", "nans", "infs", "s", "99999999s"])
    func `takes no senseless delay`(delay: String) throws {
        let info = #"{"@type":"\#(retryInfo)","retryDelay":"\#(delay)"}"#
        #expect(try result(503, error("UNAVAILABLE", "", info)).action == .retry(afterSeconds: 10))
    }

    @Test func `removes a device for FCM's own codes alone`() throws {
        for status in 200...599 {
            for body in ["", "<html>", error("NOT_FOUND"), error("INVALID_ARGUMENT", Self.notAToken)] {
                if case .removeRegistration = try result(status, body).action { Issue.record("\(status) \(body)") }
            }
            guard status > 200 else { continue }
            let gone = try result(status, error("NOT_FOUND", "", code("UNREGISTERED"))).action
            #expect(gone == .removeRegistration(goneSince: nil))
            let other = try result(status, error("NOT_FOUND", "", code("SENDER_ID_MISMATCH"))).action
            #expect(other == .doubtRegistration(reason: Self.otherProject))
        }
    }

    @Test func `puts only a plain name into the log`() throws {
        for name in ["unregistered", "A B", "A\\nB", String(repeating: "A", count: 65)] {
            #expect(try result(400, error(name)).reason == nil)
        }
    }
}
