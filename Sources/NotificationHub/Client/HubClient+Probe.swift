// SPDX-License-Identifier: Apache-2.0
package import HTTP
internal import HTTPTypes

extension HubClient {
    /// `GET /{hub}/registrations?$top=1`: a question that changes nothing and that only a key with all rights may ask.
    /// - Returns: the hub's answer whatever its status, to see why the hub refuses. Its body may hold a
    ///   device's handle.
    /// - Throws: `unreachable`.
    package func probe() throws(HubError) -> Response {
        let call = Call(method: .get, path: "registrations", query: ["$top=1"])
        return try exchange(request(for: call, id: makeTrackingID()), isRepeatable: true)
    }
}
