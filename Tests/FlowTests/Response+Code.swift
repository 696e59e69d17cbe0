// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import JSON
import Testing

extension Response {
    /// The response itself. A refusal must be a problem with a code of the list, whose status it has: what makes the
    /// requests of these tests expects it of every response.
    func withCode() -> Response {
        guard status.code >= 400 else { return self }
        let code = Problem(self).code
        let type = (try? JSONValue(parsing: body))?["type"]?.string
        let shown = "\(status) \(String(decoding: body, as: UTF8.self))"
        #expect(code?.status == status && fields[.contentType] == Problem.contentType, "\(shown)")
        #expect(type == code.map { "urn:app-backend:problem:\($0.rawValue)" }, "\(shown)")
        return self
    }
}
