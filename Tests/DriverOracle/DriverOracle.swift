// SPDX-License-Identifier: Apache-2.0
import FCM
import Glibc
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Push
import Text
import WNS

/// Says what the drivers for FCM and WNS would send, and what they make of answers: one line of JSON in, one out. The network
/// is at the other end of the pipe, so that tests in other languages can carry the requests to services that are not ours.
@main struct DriverOracle {
    static func main() {
        while let line = readLine() {
            do {
                try answer(JSONValue(parsing: Array(line.utf8)))
            } catch {
                say { $0.member("fault", "\(error)") }
            }
        }
    }

    struct Fault: Error {
        let reason: String
    }

    private static func answer(_ command: JSONValue) throws {
        switch command["do"]?.string {
        case "push": push(try driver(command), try notification(command), to: try handle(command))
        case "validate":
            guard let driver = try driver(command) as? FCMDriver else { throw Fault(reason: "not FCM") }
            say { json in
                json.name("request")
                driver.validationRequest().write(to: &json)
            }
        case "judge":
            let result = try driver(command).result(of: Response(command))
            say {
                $0.member("outcome", result.outcome.rawValue)
                $0.member("action", "\(result.action)")
                $0.member("reason", result.reason ?? "")
            }
        case "token": fetchToken(try source(command))
        default: throw Fault(reason: "do: push, validate, judge or token")
        }
    }

    private static func driver(_ command: JSONValue) throws -> any PushDriver {
        let clock: @Sendable () -> Int64 = { now }
        if command["service"]?.string == "wns" {
            return WNSDriver(endpoint: command["endpoint"]?.string.flatMap { ServiceURL($0) }, now: clock)
        }
        let endpoint = command["endpoint"]?.string ?? FCMDriver.defaultEndpoint
        guard let driver = FCMDriver(project: command["project"]?.string ?? "app-1", endpoint: endpoint, now: clock)
        else {
            throw Fault(reason: "project or endpoint")
        }
        return driver
    }

    /// Seconds since 1970.
    private static var now: Int64 { Int64(time(nil)) }

    private static func notification(_ command: JSONValue) throws -> HubNotification {
        guard let name = command["format"]?.string, let platform = Platform(formatHeader: name),
            let body = command["body"]?.string
        else { throw Fault(reason: "format or body") }
        let headers = (command["headers"]?.members ?? []).map { PushHeader($0.name, $0.value.string ?? "") }
        return HubNotification(format: .native(platform), body: Array(body.utf8), contentType: "", headers: headers)
    }

    private static func handle(_ command: JSONValue) throws -> DeviceHandle {
        let text = command["handle"]?.string ?? ""
        return command["service"]?.string == "wns" ? try .wns(text) : try .fcm(text)
    }

    private static func push(_ driver: any PushDriver, _ notification: HubNotification, to device: DeviceHandle) {
        do throws(PushRefusal) {
            let request = try driver.request(for: notification, to: device)
            say { json in
                json.name("request")
                request.write(to: &json)
            }
        } catch {
            say {
                $0.member("refusal", error.outcome.rawValue)
                $0.member("reason", error.reason ?? "")
            }
        }
    }

    private static func source(_ command: JSONValue) throws -> any TokenSource {
        if let file = command["google"]?.string {
            let trusted = command["trusted"]?.string.flatMap { Authority($0) }
            let subject = command["subjectToken"]?.string
            return try GoogleCredential(Array(file.utf8), trusting: trusted).tokenSource(
                readFile: { _ in subject.map { Array($0.utf8) } }, now: { now })
        }
        let secret = Secret(command["secret"]?.string ?? "")
        let endpoint = command["endpoint"]?.string
        if let packageSID = command["packageSid"]?.string {
            return try WNSCredential.partnerCenter(packageSID: packageSID, secret: secret, endpoint: endpoint)
                .tokenSource
        }
        return try WNSCredential.entra(
            clientID: command["clientId"]?.string ?? "", tenant: command["tenant"]?.string ?? "", secret: secret,
            endpoint: endpoint
        ).tokenSource
    }

    private static func fetchToken(_ source: any TokenSource) {
        source.fetch(by: PipeSender()) { result in
            say { json in
                switch result {
                case .success(let token):
                    json.member("token", token.text.reveal())
                    json.member("lifetime", token.lifetime)
                case .failure(.unavailable): json.member("error", "unavailable")
                case .failure(.refused(let reason)), .failure(.unanswered(let reason, _)): json.member("error", reason)
                }
            }
        }
    }
}

/// Writes a line, which is an object.
private func say(_ body: (inout JSONWriter) -> Void) {
    var json = JSONWriter()
    json.object(body)
    print(String(decoding: json.bytes, as: UTF8.self))
    fflush(nil)
}

/// Has its requests carried by the process at the other end of the pipe, one after the other.
private struct PipeSender: RequestSender {
    func send(_ request: Request, _ completion: @escaping @Sendable (Result<Response, any Error>) -> Void) {
        say { json in
            json.name("send")
            request.write(to: &json)
        }
        let line = readLine() ?? ""
        completion(Result { Response(try JSONValue(parsing: Array(line.utf8))) })
    }
}

extension Request {
    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("method", method.rawValue)
            json.member("url", "\(scheme)://\(authority)\(target)")
            json.name("fields")
            json.object { json in for field in fields { json.member(field.name.rawName, field.value) } }
            json.member("body", String(decoding: body, as: UTF8.self))
        }
    }
}

extension Response {
    fileprivate init(_ json: JSONValue) {
        var fields: HTTPFields = [:]
        for member in json["fields"]?.members ?? [] {
            HTTPField.Name(member.name).map { fields[$0] = member.value.string }
        }
        self.init(
            status: .init(code: json["status"]?.integer ?? 0), fields: fields,
            body: Array((json["body"]?.string ?? "").utf8))
    }
}
