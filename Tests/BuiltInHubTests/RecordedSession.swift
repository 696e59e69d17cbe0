// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import Foundation
import HTTP
import HTTPTypes
import HubServer
import JSON
import NotificationHub
import Support
import Testing
import Text

/// A session of the real service, of which only the answers were recorded, and what the client must have asked.
struct RecordedSession: CustomTestStringConvertible {
    struct Call {
        let path: String
        let query: String
        let status: Int
        let headers: [String: String]
        let content: String
    }

    static let folder = ProcessInfo.processInfo.environment["AZURE_RECORDINGS"]

    let name: String
    let calls: [Call]
    var testDescription: String { name }

    static func all() throws -> [RecordedSession] {
        let folder = URL(fileURLWithPath: folder ?? "/nonexistent", isDirectory: true)
        guard let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        else {
            return []
        }
        return try files.filter { $0.pathExtension == "http" }.map(RecordedSession.init)
            .sorted { $0.name < $1.name }
    }

    private init(_ file: URL) throws {
        name = file.deletingPathExtension().lastPathComponent
        // One of them has a comma before a closing bracket.
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self).replacing(/^\u{FEFF}/, with: "")
            .replacing(/,(\s*[\]}])/) { $0.1 }
        let json = try JSONValue(parsing: Array(text.utf8))
        calls = try #require(json["HttpCalls"]?.array).map { call in
            let target = try #require(call["RequestUriPath"]?.string).split(separator: "?", maxSplits: 1)
            var headers: [String: String] = [:]
            for member in ["Headers", "ContentHeaders"].flatMap({ call[$0]?.members ?? [] }) {
                headers[member.name] = member.value.string
            }
            return Call(
                path: String(target[0]), query: String(target[1]), status: try #require(call["StatusCode"]?.integer),
                headers: headers, content: call["Content"]?.string ?? "")
        }
    }
}

/// Asks a hub what a recorded session asked, and compares the answers.
struct Replay {
    private static let host = "sdk-sample-namespace.servicebus.windows.net"
    private static let hubName = "sdk-sample-nh"
    private static let key = SharedAccessKey(name: "full", key: Secret("full-key"), rights: .full)

    private let session: RecordedSession
    private let server: HubServer
    /// Our ids, by the recorded ones.
    private var ids: [String: String] = [:]
    private var continuation: String?

    init(_ session: RecordedSession) {
        self.session = session
        server = HubServer(
            BuiltInHub(store: MemoryHubStore(), now: { HubBench.now }).served, name: Self.hubName, keys: [Self.key],
            hosts: [Self.host], now: { HubBench.now })
    }

    /// - Returns: for each call, how its answer differs; empty texts for those that agree.
    mutating func differences() throws -> [String] {
        var differences: [String] = []
        for (index, call) in session.calls.enumerated() {
            if index == 0, call.content.hasPrefix("<feed") { try prepare(call) }
            let answer = try ask(call)
            learn(from: answer, call)
            differences.append(compare(answer, call))
        }
        return differences
    }

    /// Registers what the first list of the session has found.
    private mutating func prepare(_ call: RecordedSession.Call) throws {
        let found = try AtomFeed(decoding: Array(call.content.utf8)).entries.map(\.registration)
        for registration in found where !registration.tags.contains(where: \.isSystem) {
            for _ in 0..<(Int(registration.etag ?? "") ?? 1) {
                send(
                    .put, "registrations/\(registration.id?.description ?? "")",
                    AtomEntry.encodeRequest(plain(registration)))
            }
        }
        let installed = Dictionary(grouping: found) {
            $0.tags.first { $0.folded.hasPrefix("$installationid:{") }?.description
        }
        for (tag, registrations) in installed {
            guard let tag, let native = registrations.first(where: { $0.template == nil }) else { continue }
            let id = String(tag.dropFirst("$InstallationId:{".count).dropLast())
            for _ in 0..<(Int(native.etag ?? "") ?? 1) {
                send(.put, "installations/\(id)", Self.installation(native, registrations))
            }
            let ours = try AtomFeed(decoding: send(.get, "registrations").body).entries.map(\.registration)
            for (one, other) in zip(registrations, ours.filter { $0.tags.first?.description == tag }) {
                ids[one.id?.description ?? ""] = other.id?.description
            }
        }
    }

    private static func installation(_ native: RegistrationDescription, _ all: [RegistrationDescription]) -> [UInt8] {
        let platform = native.platform == .apns ? "apns" : native.platform.rawValue
        return JSONWriter.object { json in
            json.member("platform", platform)
            json.member("pushChannel", native.handle.channel)
            if let user = native.tags.first(where: { $0.folded.hasPrefix("$userid:{") })?.description {
                json.member("userId", String(user.dropFirst("$UserId:{".count).dropLast()))
            }
            let tags = native.tags.filter { !$0.isSystem }.map { JSONValue.string($0.description) }
            json.member("tags", JSONValue.array(tags))
            if let variables = native.pushVariables, let parsed = try? JSONValue(parsing: Array(variables.utf8)) {
                json.member("pushVariables", parsed)
            }
            let templates = all.compactMap(\.template).map { template in
                var members = [JSONValue.Member("body", .string(template.body))]
                if let expiry = template.expiry { members.append(JSONValue.Member("expiry", .string(expiry))) }
                let headers = template.headers.map { JSONValue.Member($0.name, .string($0.value)) }
                members.append(JSONValue.Member("headers", .object(headers)))
                return JSONValue.Member(template.name ?? "", .object(members))
            }
            json.member("templates", JSONValue.object(templates))
        }.bytes
    }

    private func plain(_ registration: RegistrationDescription) -> RegistrationDescription {
        var plain = registration
        (plain.id, plain.etag, plain.expirationTime) = (nil, nil, nil)
        return plain
    }

    // MARK: Requests

    private func ask(_ call: RecordedSession.Call) throws -> Response {
        let rest = call.path.split(separator: "/").dropFirst().map(String.init)
        let collection = rest.first ?? ""
        var fields: [String: String] = [:]
        var (method, body) = (HTTPRequest.Method.get, [UInt8]())
        switch (collection, rest.count) {
        case ("registrationids", _): method = .post
        case ("messages", _):
            (method, body) = (.post, Array("{}".utf8))
            fields["ServiceBusNotification-Format"] = format
            if call.query.hasSuffix("direct") {
                if rest.count == 1 {
                    fields["ServiceBusNotification-DeviceHandle"] = "AB"
                } else {
                    body = batch(&fields)
                }
            }
        case ("registrations", 1):
            if call.content.hasPrefix("<entry") { (method, body) = (.post, try entry(call)) }
        case ("registrations", _):
            if call.content.isEmpty {
                (method, fields["If-Match"]) = (.delete, "*")
            } else if call.content.hasPrefix("<entry"), !session.name.hasPrefix("GetRegistration") {
                (method, body) = (.put, try entry(call))
            }
        case ("installations", _):
            switch (call.status, call.content.isEmpty) {
            case (204, _): method = .delete
            case (200, true): (method, body) = installationChange(isFirst: !asked.contains(call.path))
            default: break
            }
        default: break
        }
        let path = rest.map { ids[$0] ?? $0 }.joined(separator: "/")
        let query = call.query.replacing(/continuationtoken=[^&]*/) { _ in "continuationtoken=\(continuation ?? "")" }
        return send(method, path, query: query, fields: fields, body)
    }

    private var format: String {
        for (word, format) in [("Apple", "apple"), ("Gcm", "gcm"), ("Fcm", "gcm"), ("Mpns", "windowsphone")]
        where session.name.contains(word) { return format }
        return session.name.contains("Windows") ? "windows" : "template"
    }

    private func entry(_ call: RecordedSession.Call) throws -> [UInt8] {
        AtomEntry.encodeRequest(plain(try AtomEntry(decoding: Array(call.content.utf8)).registration))
    }

    private func batch(_ fields: inout [String: String]) -> [UInt8] {
        fields["Content-Type"] = "multipart/mixed; boundary=\"nh-batch-multipart-boundary\""
        let part = "\r\nContent-Type: application/json; charset=utf-8\r\nContent-Disposition: inline; name="
        let boundary = "--nh-batch-multipart-boundary"
        return Array(
            "\(boundary)\(part)notification\r\n\r\n{}\r\n\(boundary)\(part)devices\r\n\r\n[\"AB\",\"CD\"]\r\n\(boundary)--\r\n"
                .utf8)
    }

    /// Of two empty answers for an installation the second is one to a patch.
    private let asked = AskedPaths()

    private func installationChange(isFirst: Bool) -> (HTTPRequest.Method, [UInt8]) {
        let last = session.calls.last { $0.content.hasPrefix("{") }?.content ?? "{}"
        guard case .object(var members)? = try? JSONValue(parsing: Array(last.utf8)) else { return (.put, []) }
        let name = session.name
        let (user, tag) = (members.first { $0.name == "userId" }?.value.string ?? "", "tag1")
        guard isFirst else {
            let (path, value) = name.contains("UserId") ? ("/userId", user) : ("/tags", tag)
            return (.patch, Array(#"[{"op":"add","path":"\#(path)","value":"\#(value)"}]"#.utf8))
        }
        if name.contains("WithoutTags") { members.removeAll { $0.name == "tags" } }
        if name.contains("UserIdThroughPatch") { members.removeAll { $0.name == "userId" } }
        if name.contains("UpdateUserId") { members.append(JSONValue.Member("userId", .string("before"))) }
        return (.put, JSONWriter(.object(members)).bytes)
    }

    @discardableResult
    private func send(
        _ method: HTTPRequest.Method, _ path: String, query: String = "api-version=2017-04",
        fields: [String: String] = [:], _ body: [UInt8] = []
    ) -> Response {
        var request = Request(
            method: method, authority: Self.host, path: "/\(Self.hubName)/\(path)", query: query, body: body)
        for (name, value) in fields { if let name = HTTPField.Name(name) { request.fields[name] = value } }
        request.fields[.authorization] = SharedAccessSignature.make(
            resource: "https://\(Self.host)/", key: Self.key, expiry: HubBench.now + 60)
        asked.add(request.path)
        return server.respond(to: request)
    }

    // MARK: Answers

    private mutating func learn(from answer: Response, _ call: RecordedSession.Call) {
        func id(_ text: String) -> String? {
            text.firstMatch(of: /<RegistrationId>([^<]*)</).map { String($0.1) }
        }
        if call.content.hasPrefix("<entry"), let recorded = id(call.content) { ids[recorded] = id(answer.text) }
        continuation = answer.fields.first { $0.name.canonicalName == "x-ms-continuationtoken" }?.value
    }

    private func compare(_ answer: Response, _ call: RecordedSession.Call) -> String {
        var differences: [String] = []
        func expect(_ name: String, _ ours: String?, _ theirs: String?) {
            let (ours, theirs) = (ours.map(Self.neutral), theirs.map(Self.neutral))
            if ours != theirs { differences.append("\(name): \(ours ?? "-") instead of \(theirs ?? "-")") }
        }
        expect("status", String(answer.status.code), String(call.status))
        for name in ["Content-Type", "ETag", "Location", "Content-Location", "x-ms-continuationtoken"] {
            let ours = answer.fields.first { $0.name.canonicalName == name.lowercased() }?.value
            expect(name, ours, call.headers[name])
        }
        expect("body", Self.sorted(answer.text), Self.sorted(call.content))
        return differences.joined(separator: "; ")
    }

    /// A list has no order.
    private static func sorted(_ text: String) -> String {
        let parts = neutral(text.replacing("</feed>", with: "")).components(separatedBy: "<entry ")
        return parts.prefix(1).joined() + parts.dropFirst().sorted().joined(separator: "<entry ")
    }

    /// Without what differs from one answer to the next: ids, times, hosts of the test service.
    private static func neutral(_ text: String) -> String {
        text.replacing("sdk-sample-namespace.notificationhub.int7.windows-int.net", with: host)
            // Both forms are recorded of the same call.
            .replacing("/$batch/", with: "/")
            .replacing(/[0-9a-f]{32}-\d{14}-\d+-\d+/, with: "MESSAGE").replacing(/\d+-\d+-\d+(?=[<?])/, with: "ID")
            .replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "TIME")
            .replacing(/continuationtoken=[^"&<]*/, with: "continuationtoken=NEXT")
            .replacing(/TrackingId:[^,]*,TimeStamp:[^<]*/, with: "TRACKING")
            .replacing(/^[A-Za-z0-9_-]+(%3D)*$/, with: "WORD")
    }
}

/// The paths that a replay has asked for.
private final class AskedPaths {
    private var paths: Set<String> = []

    func add(_ path: String) { paths.insert(path) }
    func contains(_ path: String) -> Bool { paths.contains(path) }
}
