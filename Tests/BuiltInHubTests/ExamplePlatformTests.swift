// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Push
import Support
import Testing

/// A driver for Amazon's devices, for which the hub has none: all that a hub needs to deliver to a platform.
/// `docs/maintain/new-platform.md` is made of it.
private struct ExampleDriver: PushDriver {
    let platform = Platform.adm

    func request(for notification: HubNotification, to device: DeviceHandle) throws(PushRefusal) -> Request {
        guard device.platform == .adm else { throw PushRefusal(.wrongChannel) }
        guard notification.body.count <= platform.maximumPayload else { throw PushRefusal(.invalidNotificationSize) }
        guard let json = try? JSONValue(parsing: notification.body), json.members != nil else {
            throw PushRefusal(.invalidNotificationFormat, reason: "body")
        }
        var request = Request(
            method: .post, authority: "api.example", path: "/messaging/\(device.parts.text)", body: notification.body)
        request.fields[.contentType] = "application/json"
        return request
    }

    func result(of response: Response) -> PushResult {
        let reason = (try? JSONValue(parsing: response.body))?["reason"]?.string
        switch response.status.code {
        case 200: return PushResult(.success)
        case 400 where reason == "Unregistered":
            return PushResult(.expiredChannel, .removeRegistration(goneSince: nil), reason: reason)
        case 401: return PushResult(.invalidCredentials, .renewCredential, reason: reason)
        case 429: return PushResult(.throttled, .retryDevice(afterSeconds: nil), reason: reason)
        case 500, 503: return PushResult(.pnsUnavailable, .retry(afterSeconds: nil), reason: reason)
        default: return PushResult(.pnsInterfaceError, reason: reason)
        }
    }
}

@Suite struct `A platform that the hub had no driver for` {
    /// The service: of two tokens the second one is accepted, and of three devices one is gone.
    private let sender = CredentialSender { request, credential in
        if credential == 1 { return .success(Response(status: .unauthorized)) }
        guard request.path != "/messaging/gone" else {
            return .success(Response(status: .badRequest, body: Array(#"{"reason":"Unregistered"}"#.utf8)))
        }
        return .success(Response(status: .ok))
    }

    private func bench() -> DeliveryBench {
        let sender = sender
        let bench = DeliveryBench(channels: { around in
            [
                PushChannel(
                    name: "example", driver: ExampleDriver(), sender: sender, now: around.now, clock: around.clock,
                    report: around.report)
            ]
        })
        for (id, token) in [("1-1-1", "phone"), ("2-1-1", "tablet"), ("3-1-1", "gone")] {
            let response = bench.hub.put(
                id,
                "<AdmRegistrationDescription \(HubBench.namespaces)><Tags>all</Tags>"
                    + "<AdmRegistrationId>\(token)</AdmRegistrationId></AdmRegistrationDescription>")
            #expect(response.status == .ok)
        }
        return bench
    }

    @Test func `is reached by a channel with a driver for it`() throws {
        let bench = bench()
        bench.start()
        let id = bench.hub.send("adm", tags: "all", body: #"{"data":{"message":"Hello"}}"#).createdID
        #expect(try bench.outcomes(id) == ["Success": 2, "ExpiredChannel": 1])
        #expect(Set(sender.paths) == ["/messaging/phone", "/messaging/tablet", "/messaging/gone"])
        #expect(!sender.renewals.isEmpty && bench.worker.holds.isEmpty)
        #expect((1...3).map(bench.isRegistered) == [true, true, false])
    }

    @Test func `is not sent what its driver refuses`() throws {
        let bench = bench()
        bench.start()
        let id = bench.hub.send("adm", tags: "all", body: "no JSON").createdID
        #expect(try bench.outcomes(id) == ["InvalidNotificationFormat": 3])
        #expect(sender.requests.isEmpty)
    }
}
