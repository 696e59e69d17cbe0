// SPDX-License-Identifier: Apache-2.0
internal import DeviceAPI
internal import HTTP
import HTTPTypes
import Text

/// One user's calls to one backend: adds address and credentials, and turns what is not a success into an error.
struct BackendCalls: Sendable {
    let endpoint: Endpoint
    let credentials: Credentials
    let transport: any DeviceTransport

    /// Asks, and returns the answer whatever its status. After 401 it asks once more, where there may be another token.
    /// - Parameters:
    ///   - key: the request's, for one that acts.
    ///   - entityTag: of what the app has already: then the answer may be 304.
    /// - Throws: `unreachable`, `noToken` or `cancelled`, when there is no answer.
    func answer(
        _ method: HTTPRequest.Method, _ path: String, query: [(name: String, value: String)] = [],
        json: [UInt8]? = nil, key: IdempotencyKey? = nil, entityTag: String? = nil
    ) async throws(DeviceClientError) -> Response {
        var fields: HTTPFields = [:]
        fields[.authorization] = try await credentials.authorization()
        fields[.accept] = "application/json, \(Problem.contentType)"
        if json != nil { fields[.contentType] = "application/json; charset=utf-8" }
        if let key { fields[.idempotencyKey] = key.field }
        if let entityTag { fields[.ifNoneMatch] = entityTag }
        var request = Request(
            method: method, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.prefix.text + path,
            query: query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&"),
            fields: fields, body: json ?? [])
        let response = try await send(request)
        guard response.status == .unauthorized, credentials.isRenewable else { return response }
        request.fields[.authorization] = try await credentials.authorization(isRefused: true)
        return try await send(request)
    }

    /// Asks, and returns the answer when it is a success.
    /// - Throws: as `answer`, and the error that the status stands for.
    func success(
        _ method: HTTPRequest.Method, _ path: String, query: [(name: String, value: String)] = [],
        json: [UInt8]? = nil
    ) async throws(DeviceClientError) -> Response {
        let response = try await answer(method, path, query: query, json: json)
        guard response.status.kind == .successful else { throw DeviceClientError(Problem(response)) }
        return response
    }

    private func send(_ request: Request) async throws(DeviceClientError) -> Response {
        do {
            return try await transport.send(request)
        } catch is CancellationError {
            throw .cancelled
        } catch let error as DeviceTransportError {
            throw .unreachable(reason: error.reason)
        } catch {
            throw .unreachable(reason: "\(type(of: error))")
        }
    }
}

/// Reads a successful answer; what it cannot read is the answer's fault.
func read<Value>(_ response: Response, _ parse: (Response) throws(Problem) -> Value) throws(DeviceClientError) -> Value
{
    do {
        return try parse(response)
    } catch {
        throw .malformedAnswer(error)
    }
}
