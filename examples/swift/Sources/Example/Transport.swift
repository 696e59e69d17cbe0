// SPDX-License-Identifier: Apache-2.0
// Apple's systems have URLSessionTransport. Elsewhere an app brings its own transport.
import DeviceClient

#if canImport(Darwin)
    func makeTransport() -> any DeviceTransport { URLSessionTransport() }
#else
    import Foundation
    import FoundationNetworking
    import HTTP

    func makeTransport() -> any DeviceTransport { LinuxTransport() }

    struct LinuxTransport: DeviceTransport {
        func send(_ request: Request) async throws -> Response {
            guard let url = URL(string: "\(request.scheme)://\(request.authority)\(request.target)") else {
                throw DeviceTransportError(reason: "not a URL")
            }
            var wire = URLRequest(url: url, timeoutInterval: 30)
            wire.httpMethod = request.method.rawValue
            wire.httpBody = request.body.isEmpty ? nil : Data(request.body)
            for field in request.fields { wire.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
            // The answer to wrong credentials is then no challenge of Basic, at which Foundation on Linux waits without end.
            wire.addValue("cors", forHTTPHeaderField: "Sec-Fetch-Mode")
            do {
                let (data, answer) = try await URLSession.shared.data(for: wire)
                guard let answer = answer as? HTTPURLResponse else { throw DeviceTransportError(reason: "not HTTP") }
                return Response(status: .init(code: answer.statusCode), body: [UInt8](data))
            } catch let error as URLError {
                // Without the error's own text, which names the address and with it the device's handle.
                throw DeviceTransportError(reason: "URLError \(error.code.rawValue)")
            }
        }
    }
#endif
