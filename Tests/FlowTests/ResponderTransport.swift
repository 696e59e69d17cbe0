// SPDX-License-Identifier: Apache-2.0
import DeviceClient
import HTTP

/// Hands an app's requests to a responder in this process, and holds the calling task's thread until it answers.
struct ResponderTransport: DeviceTransport {
    let responder: any Responder

    func send(_ request: Request) async throws -> Response {
        try responder.respond(to: request).withCode()
    }
}
