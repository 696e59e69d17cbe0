// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import DeviceClient
import Foundation
import HTTP
import HTTPTypes
import JSON
import Testing

/// A user who may log in.
struct WireUser: Sendable {
    let name: String
    let password: String

    var authorization: String { "Basic " + Data("\(name):\(password)".utf8).base64EncodedString() }
}

struct UserNotAdded: Error { let reason: String }

/// A user's device: what an app is made of.
struct WireDevice: Sendable {
    let registration: RegisterClient
    let notifications: NotificationClient
}

/// The app's road: a failure says what libcurl says of it, so that a test's report does.
struct WireTransport: DeviceTransport {
    let transport: any Responder

    func send(_ request: Request) async throws -> Response {
        do {
            return try transport.respond(to: request)
        } catch let error as TransportError {
            throw DeviceTransportError(reason: "\(error)")
        }
    }
}

extension ServedSite {
    /// Adds a user, as an operator does it, whom no other test has.
    func addUser(_ role: String) throws -> WireUser {
        let name = "\(role)-\(UInt32.random(in: .min ... .max))"
        let user = WireUser(name: name, password: secrets.make("password:with:colons-"))
        secrets.add(user.authorization)
        let added = try run("user", "add", user.name, input: user.password + "\n")
        guard added.status == 0 else { throw UserNotAdded(reason: added.errors) }
        return user
    }

    /// With a hash that takes little to check: for stories in which fresh processes log in all users at once, and that is not
    /// what they are about. On a slow machine some of those would be refused ("Too many log-ins at once").
    func importUser(_ role: String) throws -> WireUser {
        let name = "\(role)-\(UInt32.random(in: .min ... .max))"
        let user = WireUser(name: name, password: secrets.make("password-"))
        secrets.add(user.authorization)
        let salt = "rounds=1000$" + String(UInt64.random(in: .min ... .max), radix: 36)
        let made = try Program.run(
            "/usr/bin/openssl", ["passwd", "-6", "-stdin", "-salt", salt], input: .text(user.password + "\n"))
        let added = try run("user", "import-htpasswd", "-", input: "\(name):\(made.output)")
        guard made.status == 0, added.status == 0 else { throw UserNotAdded(reason: made.errors + added.errors) }
        return user
    }

    /// Runs a command of the product with the site's configuration.
    func run(_ arguments: String..., input: String = "") throws -> Program.Outcome {
        try run(arguments, input: input)
    }

    /// A device token of Apple's form that no other device has.
    func makeHandle() -> String {
        let handle = (0..<8).map { _ in String(format: "%08X", UInt32.random(in: .min ... .max)) }.joined()
        secrets.add(handle)
        return handle
    }

    func device(
        of user: WireUser, storage: MemoryStorage = MemoryStorage(), prefix: String = ""
    ) throws -> WireDevice {
        let endpoint = try Endpoint("https://\(authority)\(prefix)")
        let credentials = try Credentials(user: user.name, password: user.password)
        let transport = WireTransport(transport: transport)
        return WireDevice(
            registration: RegisterClient(
                endpoint: endpoint, credentials: credentials, transport: transport, storage: storage),
            notifications: NotificationClient(endpoint: endpoint, credentials: credentials, transport: transport))
    }

    /// A request as any HTTP client makes it, past our own client and its manners. A problem must have a code, also one of nginx.
    func call(
        _ method: HTTPRequest.Method, _ path: String, query: String = "", as user: WireUser? = nil, body: String = "",
        fields: HTTPFields = [:]
    ) throws -> Response {
        var fields = fields
        if let user { fields[.authorization] = user.authorization }
        if !body.isEmpty && fields[.contentType] == nil { fields[.contentType] = "application/json" }
        let answer = try transport.respond(
            to: Request(
                method: method, authority: authority, path: path, query: query, fields: fields,
                body: Array(body.utf8)))
        if answer.fields[.contentType] == Problem.contentType {
            #expect(Problem(answer).code?.status == answer.status, "\(method) \(path)")
        }
        return answer
    }

    /// Asks for an id and registers an Apple device under it, past our own client.
    func register(_ user: WireUser, handle: String) throws -> String {
        let answer = try call(.post, Path.register, as: user)
        guard answer.status == .ok, let id = try JSONValue(parsing: answer.body).string else { throw Problem(answer) }
        let put = try put(id, handle: handle, as: user)
        guard put.status == .ok else { throw Problem(put) }
        return id
    }

    func put(_ id: String, handle: String, as user: WireUser) throws -> Response {
        let body = DeviceRegistration(platform: "apns", handle: handle).json
        return try call(.put, "\(Path.register)/\(id)", as: user, body: String(decoding: body, as: UTF8.self))
    }

    /// Leaves a secret for a user.
    /// - Returns: its id.
    func sendSecure(_ text: String, from sender: WireUser, to recipient: WireUser) throws -> Int32 {
        let answer = try call(
            .post, Path.notifications, query: "to_tag=\(recipient.name)", as: sender, body: "\"\(text)\"")
        guard answer.status == .ok, let id = try SendOutcome(answer).id else { throw Problem(answer) }
        return id
    }

    /// Leaves a secret for a user in a request that has a key.
    /// - Parameters:
    ///   - body: JSON.
    ///   - key: the field's value.
    func sendKeyed(_ body: String, from sender: WireUser, to recipient: WireUser, key: String) throws -> Response {
        var fields = HTTPFields()
        fields[.idempotencyKey] = key
        return try call(
            .post, Path.notifications, query: "to_tag=\(recipient.name)", as: sender, body: body, fields: fields)
    }

    /// The text of the secret with that id; nil when there is none for this user.
    func readSecure(_ id: Int32, as user: WireUser, prefix: String = "") throws -> String? {
        let answer = try call(.get, "\(prefix)\(Path.notifications)/\(id)", as: user)
        if answer.status == .notFound { return nil }
        guard answer.status == .ok else { throw Problem(answer) }
        return try JSONValue(parsing: answer.body)["Payload"]?.string
    }
}
