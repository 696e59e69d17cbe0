// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import HTTP
import HTTPTypes

/// A client without credentials, at a front door.
struct Visitor {
    private let transport: CurlTransport
    private let authority: String

    init(_ door: FrontDoor, certificates: String) throws {
        transport = try CurlTransport(CurlOptions(timeout: .seconds(120), caFile: "\(certificates)/cert.pem"))
        authority = "localhost:\(door.port)"
    }

    func get(_ path: String) throws -> Response {
        try transport.respond(to: Request(method: .get, authority: authority, path: path))
    }

    /// What the challenge calls the place.
    func realm() throws -> String? {
        try get(Path.register).fields[.wwwAuthenticate]?.split(separator: "\"").dropFirst().first.map(String.init)
    }
}
