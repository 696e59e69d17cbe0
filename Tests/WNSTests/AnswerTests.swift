// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Push
import Testing
import WNS

private func result(_ status: HTTPResponse.Status, _ headers: [(String, String)] = []) -> PushResult {
    var fields: HTTPFields = [:]
    for (name, value) in headers { HTTPField.Name(name).map { fields[$0] = value } }
    return WNSDriver(now: { 1_800_000_000 }).result(of: Response(status: status, fields: fields))
}

@Suite struct `What WNS's answer means` {
    static let results: [(Int, [(String, String)], PushResult)] = [
        (200, [("X-WNS-Status", "received")], PushResult(.success)), (200, [], PushResult(.success)),
        (200, [("X-WNS-Status", "received"), ("X-WNS-DeviceConnectionStatus", "disconnected")], PushResult(.success)),
        (200, [("X-WNS-Status", "dropped")], PushResult(.dropped)),
        (200, [("X-WNS-Status", "ChannelThrottled")], PushResult(.channelThrottled, .retryDevice(afterSeconds: nil))),
        (
            200, [("X-WNS-Status", "channelthrottled"), ("Retry-After", "30")],
            PushResult(.channelThrottled, .retryDevice(afterSeconds: 30))
        ),
        (
            400, [("X-WNS-Error-Description", "The Cloud Policy specified is invalid")],
            PushResult(.pnsInterfaceError, reason: "The Cloud Policy specified is invalid")
        ),
        (401, [], PushResult(.invalidCredentials, .renewCredential)),
        (403, [], PushResult(.wrongChannel)),
        (
            403, [("X-WNS-Error-Description", "Request targets an app that is not in allowed receiving apps list")],
            PushResult(.wrongChannel, reason: "Request targets an app that is not in allowed receiving apps list")
        ),
        (404, [], PushResult(.badChannel, .removeRegistration(goneSince: nil))),
        (405, [], PushResult(.pnsInterfaceError)),
        (406, [], PushResult(.throttled, .retry(afterSeconds: nil))),
        (
            406, [("X-WNS-Status", "channelThrottled"), ("Retry-After", "9")],
            PushResult(.channelThrottled, .retryDevice(afterSeconds: 9))
        ),
        (429, [("X-WNS-Status", "channelThrottled")], PushResult(.channelThrottled, .retryDevice(afterSeconds: nil))),
        (406, [("Retry-After", "120")], PushResult(.throttled, .retry(afterSeconds: 120))),
        (410, [], PushResult(.expiredChannel, .removeRegistration(goneSince: nil))),
        (
            410, [("X-WNS-Error-Description", "Domain Blocked")],
            PushResult(
                .invalidCredentials, .holdCredential(reason: "WNS has blocked this sender: Domain Blocked"),
                reason: "Domain Blocked")
        ),
        (413, [], PushResult(.invalidNotificationSize)), (429, [], PushResult(.throttled, .retry(afterSeconds: nil))),
        (500, [], PushResult(.pnsServerError, .retry(afterSeconds: nil))), (502, [], PushResult(.pnsServerError)),
        (503, [("Retry-After", "5")], PushResult(.pnsUnavailable, .retry(afterSeconds: 5))),
        (504, [], PushResult(.pnsServerError)), (302, [], PushResult(.pnsInterfaceError)),
        (201, [], PushResult(.pnsInterfaceError)), (418, [], PushResult(.pnsInterfaceError)),
    ]

    @Test(arguments: results)
    func `is in the status and in the headers beside it`(
        status: Int, headers: [(String, String)], expected: PushResult
    ) {
        #expect(result(.init(code: status), headers) == expected)
    }

    @Test func `deletes nothing where the phrase beside 410 speaks of the domain`() {
        let blocked = result(.init(code: 410, reasonPhrase: "Domain Blocked"))
        #expect(blocked.action == .holdCredential(reason: "WNS has blocked this sender: Domain Blocked"))
        let expired = result(.init(code: 410, reasonPhrase: "Gone"))
        #expect(expired.action == .removeRegistration(goneSince: nil))
    }

    @Test func `removes a device for 404 and 410 alone`() {
        let removing = (200...599).filter {
            result(.init(code: $0), [("X-WNS-Status", "dropped")]).action == .removeRegistration(goneSince: nil)
        }
        #expect(removing == [404, 410])
    }
}
