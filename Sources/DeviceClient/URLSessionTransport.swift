// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    public import Foundation
    public import HTTP
    import HTTPTypes

    /// The transport of an app: `URLSession`, with nothing kept on disk and nothing sent that was not asked for.
    public final class URLSessionTransport: NSObject, DeviceTransport, URLSessionTaskDelegate {
        /// Without a byte for so many seconds a call fails.
        public static let idleSeconds: Double = 15
        /// A call fails after so many seconds, come what may.
        public static let wholeSeconds: Double = 30
        /// A larger answer is not the backend's, and is refused. A list of a thousand messages is 40 KiB.
        public static let maximumAnswerBytes = 1 << 20

        private let session: URLSession

        /// An ephemeral session of its own, without cache, cookies and stored credentials.
        public override init() {
            session = URLSession(configuration: Self.makeConfiguration())
        }

        private static func makeConfiguration() -> URLSessionConfiguration {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCredentialStorage = nil
            configuration.timeoutIntervalForRequest = idleSeconds
            configuration.timeoutIntervalForResource = wholeSeconds
            return configuration
        }

        deinit { session.finishTasksAndInvalidate() }

        /// - Throws: `DeviceTransportError`; `CancellationError` when the task was cancelled.
        public func send(_ request: Request) async throws -> Response {
            let wire = try Self.urlRequest(request)
            do {
                let (data, answer) = try await session.data(for: wire, delegate: self)
                return try Self.response(data, answer)
            } catch let error as URLError where error.code == .cancelled {
                throw CancellationError()
            } catch let error as URLError {
                // The code alone: the error's text and user info hold the URL, and that may hold a handle.
                throw DeviceTransportError(reason: "URLError \(error.code.rawValue)")
            }
        }

        /// Follows no redirect: the contract has none, and the next host would be given the password.
        public func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? {
            nil
        }

        private static func urlRequest(_ request: Request) throws(DeviceTransportError) -> URLRequest {
            guard let url = URL(string: "\(request.scheme)://\(request.authority)\(request.target)") else {
                throw DeviceTransportError(reason: "The request's target is not a URL.")
            }
            var wire = URLRequest(url: url)
            wire.httpMethod = request.method.rawValue
            wire.httpBody = request.body.isEmpty ? nil : Data(request.body)
            for field in request.fields { wire.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
            return wire
        }

        private static func response(_ data: Data, _ answer: URLResponse) throws(DeviceTransportError) -> Response {
            guard let answer = answer as? HTTPURLResponse, (100...599).contains(answer.statusCode) else {
                throw DeviceTransportError(reason: "The answer is not HTTP.")
            }
            guard data.count <= maximumAnswerBytes else {
                throw DeviceTransportError(reason: "The answer is larger than \(maximumAnswerBytes) bytes.")
            }
            var fields = HTTPFields()
            for (name, value) in answer.allHeaderFields {
                guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String
                else { continue }
                fields[name] = value
            }
            return Response(status: .init(code: answer.statusCode), fields: fields, body: [UInt8](data))
        }
    }
#endif
